'use strict'

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { Descriptor } = require('../../../lib/native/descriptor')
const { Failover } = require('../../../lib/features/failover/primary')

const { addon } = loadAddon()
const isOpen = (/** @type {number} */ fd) => { try { return fs.fstatSync(fd) !== null } catch { return false } }

t.test('what a worker reads from here on is kept as a descriptor, also where this process has a handle of it', { skip: addon === null }, async t => {
  const kernel = { tenure: { isOver: false, isSole: true }, fleet: { serving: () => [] } }
  const failover = new Failover(/** @type {any} */ (kernel), /** @type {any} */ (addon))
  const worker = /** @type {any} */ (Object.assign(new EventEmitter(), {
    process: { killedFor: null },
    give: (/** @type {string} */ _, /** @type {Descriptor} */ theirs) => t.teardown(() => theirs.close())
  }))
  failover.connect(worker)
  worker.emit('entered')
  t.teardown(() => failover.left(worker, () => {}))
  const forms = /** @type {const} */ ([['a descriptor'], ['with a handle', 'made'], ['a handle', 'alone']])
  for (const [row, [form, handle]] of forms.entries()) {
    const [ours, other] = /** @type {any} */ (addon).socketpair()
    t.teardown(() => fs.closeSync(other))
    const { ino } = fs.fstatSync(ours)
    const descriptor = new Descriptor(ours)
    const made = handle ? descriptor.handle : null
    const socket = handle === 'alone' ? made : descriptor
    failover.keep(worker, { row, serial: 7 }, /** @type {any} */ (socket), { key: 'a', leftMs: null })
    t.equal(failover.describe().connections, 1, form)
    if (made) {
      await new Promise(resolve => setImmediate(resolve))
      t.equal(isOpen(ours), false, 'the handle is closed')
    }
    t.equal(failover.take(worker, { row, serial: 8 }), null, 'another connection of that row')
    const taken = /** @type {any} */ (failover.take(worker, { row, serial: 7 }))
    t.equal(fs.fstatSync(taken.fd).ino, ino)
    taken.close()
    t.equal(failover.describe().connections, 0)
  }
})
