'use strict'

const t = require('tap')
const { NoOwners } = require('../../../lib/primary/handoff/no-owners')
const { HandoffLedger } = require('../../../lib/primary/handoff/ledger')
const { RemoteReceivers } = require('../../../lib/primary/succession/remote-workers')
const { Heard } = require('../../support/heard')

const KEY = '127.0.0.1:80:4::0'

/** The other end of a channel: what it is sent is a list. */
class End extends Heard {
  isGone = false
  connections = 0
  addresses = new Set([KEY])
  /** @type {any[]} */
  got = []

  /** @param {string} type @param {any} fields @param {any} [socket] @param {(error: null) => void} [sent] */
  send (type, fields, socket, sent = () => {}) {
    this.got.push({ type, ...fields })
    process.nextTick(sent, null)
  }
}

t.test('a connection that the other fleet refuses goes back to its sender, and nothing of it is kept', async t => {
  const [sender, successor] = [new End(), new End()]
  const group = new RemoteReceivers(/** @type {any} */ (successor), { count: 1, addresses: [KEY] })
  const ledger = new HandoffLedger(() => /** @type {any} */ (group.all), () => null, new NoOwners())
  for (const handle of [sender, ...group.all]) ledger.connect(/** @type {any} */ (handle))
  let closed = 0
  for (const id of [1, 2]) {
    sender.say('offer', { id, parcel: { key: KEY, leftMs: 5000 } }, { close: () => { closed++ } })
    const { id: sent } = successor.got.findLast(({ type }) => type === 'adopt')
    t.equal(group.byId.size, 1)
    successor.say('refused', { id: sent, why: 'no descriptors are left' })
  }
  t.match(sender.got, [{ type: 'back', id: 1 }, { type: 'back', id: 2 }])
  t.equal(closed, 2)
  t.equal(group.byId.size, 0)
})
