'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { Packets } = require('../../../lib/worker/websockets/socket-io-packets')

/** One connection as Engine.IO tells of it, and its clock. */
function packetsOf () {
  const conn = new EventEmitter()
  const clock = { ms: 0 }
  return {
    clock,
    packets: new Packets(conn, () => clock.ms),
    comes: (/** @type {string | Buffer} */ data) => conn.emit('packet', { type: 'message', data }),
    goes (/** @type {string} */ data) {
      conn.emit('packetCreate', { type: 'message', data })
      conn.emit('drain')
    }
  }
}

t.test('an acknowledgement is awaited in either direction, by namespace and number', async t => {
  const { packets, comes, goes } = packetsOf()
  comes('2["say","no number"]')
  t.equal(packets.isBusy, false)
  comes('27["ask"]')
  goes('3/chat,7["of another namespace"]')
  goes('38["of another number"]')
  t.equal(packets.isBusy, true)
  goes('37["answer"]')
  t.equal(packets.isBusy, false)
  goes('2/chat,0["ask"]')
  t.equal(packets.isBusy, true)
  comes('3/chat,0[]')
  t.equal(packets.isBusy, false)
  comes('51-3["ask with an attachment",{"_placeholder":true,"num":0}]')
  goes('33[]')
  t.equal(packets.isBusy, true, 'the attachment is to come')
  comes(Buffer.alloc(1))
  t.equal(packets.isBusy, false)
})

t.test('one that never comes is awaited for ten seconds, and no longer', async t => {
  for (const asks of /** @type {const} */ (['comes', 'goes'])) {
    const { packets, clock, [asks]: ask } = packetsOf()
    ask('20["never answered"]')
    clock.ms = 6000
    ask('21["neither is this"]')
    clock.ms = 9999
    t.equal(packets.isBusy, true)
    clock.ms = 15_999
    t.equal(packets.isBusy, true)
    clock.ms = 16_000
    t.equal(packets.isBusy, false)
  }
})

t.test('a thousand are remembered: of more, the latest', async t => {
  const { packets, comes, goes } = packetsOf()
  for (let n = 0; n < 100_000; n++) comes(`2${n}["ask"]`)
  for (let n = 99_000; n < 100_000; n++) goes(`3${n}[]`)
  t.equal(packets.isBusy, false)
  comes('25["ask"]')
  t.equal(packets.isBusy, true)
})
