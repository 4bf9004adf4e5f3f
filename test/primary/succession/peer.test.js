'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { FROM_PREDECESSOR, FROM_SUCCESSOR, VERSION } = require('../../../lib/tables/primary-message')
const { message } = require('../../../lib/core/envelope')
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
  const adopted = new Promise(resolve => predecessor.peer.hear({ move: resolve }))
  predecessor.says('move', { id: 1, parcel: { key: 'a', leftMs: null, speed: 4 } }, { readStop () {}, close () {} })
  t.match(await adopted, { id: 1, parcel: { key: 'a' } })
  t.same(predecessor.sent, [])
})

t.test('what is wrong is not: a connection goes back, anything else ends the upgrade', async t => {
  const predecessor = other(FROM_PREDECESSOR)
  predecessor.says('move', { id: 1, parcel: { key: 'a', leftMs: 'long' } }, { readStop () {}, close () {} })
  t.match(predecessor.sent, [{ type: 'moved', id: 1, ok: false }])
  const successor = other(FROM_SUCCESSOR)
  const hello = successor.peer.expect('hello', 1000)
  successor.says('hello', { ...HELLO, node: 20 })
  const message = 'it sent an invalid message (hello): its node must be text of at most 100 characters'
  await t.rejects(hello, { message })
  await t.rejects(successor.peer.expect('prepared', 1000), { message }, 'nor is anything more expected of it')
})

t.test('each message has one handler, and is not emitted; what has none is ignored', async t => {
  const { peer, says, sent } = other(FROM_SUCCESSOR)
  /** @type {any[]} */
  const heard = []
  says('booted', { done: 1, of: 2 }) // none yet
  peer.hear({ booted: fields => { heard.push(fields) } })
  says('booted', { done: 2, of: 2 })
  t.same(heard, [{ done: 2, of: 2 }])
  t.same(sent, [])
  t.throws(() => peer.hear({ booted () {} }), { message: 'the message booted has a handler already' })
  t.throws(() => peer.hear({ go () {} }), { message: 'there is no message go' }, 'it is the predecessor that says so')
  t.throws(() => peer.on('booted', () => {}), { message: 'there is no event booted' })
  const prepared = peer.expect('prepared', 1000)
  await t.rejects(peer.expect('prepared', 1000), { message: 'the message prepared has a handler already' })
  says('prepared', {})
  t.same(await prepared, {})
})

t.test('what is expected does not come when the other primary has given up, has exited, or is silent', async t => {
  const silent = other(FROM_SUCCESSOR)
  await t.rejects(silent.peer.expect('hello', 1), { message: 'it was silent for 1 ms' })
  const failed = other(FROM_SUCCESSOR)
  const hello = failed.peer.expect('hello', 1000)
  for (const why of ['first', 'second']) failed.peer.fail(why)
  await t.rejects(hello, { message: 'first' })
  const exited = other(FROM_SUCCESSOR)
  const serving = exited.peer.expect('serving', 1000)
  exited.peer.process.emit('exit', { code: 7, signal: null })
  await t.rejects(serving, { message: 'it exited with code 7' })
})
