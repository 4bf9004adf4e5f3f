'use strict'

const t = require('tap')
const { surviveRecycles } = require('./under-load')

const [major, minor] = process.versions.node.split('.').map(Number)

t.test('plain http, CommonJS, drops nothing', t => surviveRecycles(t, '../plain.js'))

t.test('require.main === module', t => surviveRecycles(t, 'main-module.js'))

t.test('ESM with a top-level await', t => surviveRecycles(t, 'top-level-await.mjs'))

t.test('TypeScript by tsx', t => surviveRecycles(t, 'typescript.mts', { options: { nodeOption: ['--import=tsx'] } }))

// Node itself strips types from 22.18 and 23.6 on; npm run test:matrix runs this there.
const stripsTypes = major >= 24 || (major === 22 && minor >= 18) || (major === 23 && minor >= 6)
t.test('TypeScript by Node itself', { skip: !stripsTypes && `Node ${process.versions.node} does not run TypeScript` }, t =>
  surviveRecycles(t, 'typescript.mts'))
