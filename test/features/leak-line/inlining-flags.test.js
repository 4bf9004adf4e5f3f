'use strict'

const { execFileSync } = require('node:child_process')
const t = require('tap')
const { flagsIn, inliningFlags } = require('../../../lib/features/leak-line/inlining-flags')

t.test('those that V8 lists, and no other', async t => {
  t.same(flagsIn('  --turbo-inlining (enable inlining in TurboFan)\n        type: bool\n  --maglev-inlining-x (no)\n'), ['--no-turbo-inlining'])
  t.same(flagsIn(''), [])
})

t.test('this Node.js starts with its own', async t => {
  const flags = await inliningFlags()
  t.match(flags, ['--no-turbo-inlining', '--no-maglev-inlining'])
  t.equal(execFileSync(process.execPath, [...flags, '-p', '1'], { encoding: 'utf8' }), '1\n')
})
