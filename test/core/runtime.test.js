'use strict'

const { parse } = require('acorn')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { refuseRuntime } = require('../../lib/core/runtime')

t.test('Node.js before 20, Bun and Deno are refused by name', async t => {
  const refusal = (/** @type {Record<string, string>} */ versions) => refuseRuntime(versions, '/bin/x')
  for (const node of ['20.0.0', '22.23.1', '26.0.0-nightly']) t.equal(refusal({ node }), null, node)
  t.equal(refusal({ node: '18.20.8' }), '/bin/x is Node.js 18.20.8; Node.js 20 or later is needed')
  t.match(refusal({ node: '9.11.2' }), /^\/bin\/x is Node\.js 9\.11\.2;/)
  t.match(refusal({ node: '24.3.0', bun: '1.4.5' }), /^\/bin\/x is Bun 1\.4\.5;/)
  t.match(refusal({ node: '24.2.0', deno: '2.9.6' }), /^\/bin\/x is Deno 2\.9\.6;/)
})

t.test('what is read before that parses on Node.js 6', async t => {
  for (const file of ['bin/recycle.js', 'lib/core/runtime.js']) {
    const source = fs.readFileSync(path.join(__dirname, '../..', file), 'utf8')
    t.ok(parse(source, { ecmaVersion: 2015, allowHashBang: true }), file)
  }
})
