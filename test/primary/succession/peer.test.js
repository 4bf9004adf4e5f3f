'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { FROM_PREDECESSOR, FROM_SUCCESSOR, VERSION } = require('../../../lib/core/primary-message')
const { message } = require('../../../lib/core/message')
const { Peer } = require('../../../lib/primary/succession/peer')

const HELLO = { version: VERSION, recycle: '9.0.0', node: 'v30.0.0', readyTimeoutMs: 1000 }

/** Another primary, whose messages are `kinds`. @param {Readonly<Record<string, any>>} kinds */
function other (kinds) {
  const sent = /** @type {any[]} */ ([])
  const process = Object.assign(new EventEmitter(), { send: (/** @type {any} */ what) => sent.push(what) })
  const peer = new Peer(/** @type {any} */ (process), kinds)
  const says = (/** @type {string} */ type, /** @type {Record<string, any>} */ fields, /** @type {any} */ handle) => process.emit('message', message(type, fields), handle)
  return { peer, says, sent }
}

t.test('what a later version adds is ignored: fields, also of a connection, and messages', async t => {
  const successor = other(FROM_SUCCESSOR)
  const hello = successor.peer.expect('hello', 1000)
  let isClosed = false
  successor.says('news', { of: 'a later version' }, { close: () => { isClosed = true } })
  successor.says('hello', { ...HELLO, takesNews: true })
  t.match(await hello, HELLO)
  t.ok(isClosed, 'what came with it is not kept open')
  successor.says('serving', { addresses: [], workers: [{ slot: 0, pid: 1, name: 'a' }], since: 5 })

  const predecessor = other(FROM_PREDECESSOR)
  const adopted = new Promise(resolve => predecessor.peer.once('adopt', resolve))
  predecessor.says('adopt', { id: 1, parcel: { key: 'a', leftMs: null, speed: 4 } }, { readStop () {}, close () {} })
  t.match(await adopted, { id: 1, parcel: { key: 'a' } })
  t.same(predecessor.sent, [])
})

t.test('what is wrong is not: a connection goes back, anything else ends the upgrade', async t => {
  const predecessor = other(FROM_PREDECESSOR)
  predecessor.says('adopt', { id: 1, parcel: { key: 'a', leftMs: 'long' } }, { readStop () {}, close () {} })
  t.match(predecessor.sent, [{ type: 'refused', id: 1 }])
  const successor = other(FROM_SUCCESSOR)
  const hello = successor.peer.expect('hello', 1000)
  successor.says('hello', { ...HELLO, node: 20 })
  await t.rejects(hello, { message: 'it sent an invalid message (hello): its node must be text of at most 100 characters' })
})
