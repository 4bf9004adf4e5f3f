'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { Orphans } = require('../../lib/primary/orphans')
const { childrenOf } = require('../support/processes')

const { addon, missing } = loadAddon()

t.test('the exit of a child of Node is left to Node, also where Node has not come round to it', { skip: missing ?? false }, async t => {
  const orphans = new Orphans()
  t.teardown(() => orphans.close())
  const children = [7, 8].map(code => spawn('sh', ['-c', `exit ${code}`]))
  const exits = children.map(child => once(child, 'exit'))
  // The event loop stands still: its timers come first then
  while (childrenOf(process.pid).filter(({ state }) => state === 'Z').length < 2);
  t.ok(children.some(({ pid }) => pid === addon?.exited()))
  t.equal(orphans.watch(), null)
  t.same(await Promise.all(exits), [[7, null], [8, null]])
  t.equal(addon?.exited(), 0)
})
