'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const t = require('tap')
const { openPair } = require('../../../lib/features/health/primary')
const { loadAddon } = require('../../../lib/native/addon')

for (const [how, addon] of /** @type {const} */ ([['by the addon', loadAddon().addon], ['without it', null]])) {
  t.test(`${how}: the two ends are those of one connection, several at a time, and nothing is left of how they met`, async t => {
    process.env.TMPDIR = fs.mkdtempSync('/tmp/pair-')
    t.teardown(() => {
      fs.rmSync(String(process.env.TMPDIR), { recursive: true })
      delete process.env.TMPDIR
    })
    const opened = await Promise.all(Array.from({ length: 20 }, () => openPair(addon)))
    await Promise.all(opened.map(async ({ near, far }, i) => {
      const socket = new net.Socket(/** @type {any} */ ({ handle: far.isDescriptor ? far.handle : far }))
      near.write(`pair ${i}`)
      t.equal(String((await once(socket, 'data'))[0]), `pair ${i}`)
      near.destroy()
      socket.destroy()
    }))
    t.same(fs.readdirSync(String(process.env.TMPDIR)), [])
  })
}

t.test('what cannot be made rejects', async t => {
  process.env.TMPDIR = '/nowhere'
  t.teardown(() => { delete process.env.TMPDIR })
  await t.rejects(openPair(null), { code: 'ENOENT' })
  process.env.TMPDIR = t.testdir({ ['x'.repeat(100)]: {} }) + `/${'x'.repeat(100)}`
  await t.rejects(openPair(null), { message: /too long/ })
  await t.rejects(openPair({ socketpair () { throw new Error('EMFILE') } }), { message: 'EMFILE' })
})
