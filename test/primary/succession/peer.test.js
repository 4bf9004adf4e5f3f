'use strict'

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { Descriptor } = require('../../../lib/native/descriptor')
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

t.test('connections pass many at a time between two primaries', { skip: loadAddon().missing ?? false }, async t => {
  const addon = /** @type {import('../../../lib/native/addon').Addon} */ (loadAddon().addon)
  const [to, from] = addon.socketpair()
  /** As another process gets it. @param {any} handle */
  const passed = handle => {
    addon.send(to, 'copy', [handle.fd])
    return new Descriptor(/** @type {any} */ (addon.receive(from)).descriptors[0]).handle
  }
  /** @type {string[]} */
  const types = []
  const ends = [new EventEmitter(), new EventEmitter()]
  const [predecessor, successor] = [FROM_SUCCESSOR, FROM_PREDECESSOR].map((kinds, i) => {
    const send = (/** @type {any} */ what, /** @type {any} */ handle, /** @type {any} */ sent) => {
      types.push(what.type)
      const copy = handle && passed(handle)
      setImmediate(() => ends[1 - i].emit('message', what, copy))
      process.nextTick(sent, null)
    }
    return new Peer(/** @type {any} */ (Object.assign(ends[i], { send })), kinds)
  })
  predecessor.workers = 5
  t.equal(predecessor.window, 5, 'one for each worker')
  predecessor.offerBatching()
  while (!predecessor.isBatching) await new Promise(resolve => setImmediate(resolve))
  t.same([types, predecessor.window], [['batching', 'batching'], 256])
  /** @type {any[]} */
  const heard = []
  successor.hear({
    move: ({ id }, socket) => {
      heard.push([id, socket.isDescriptor])
      socket.close()
      successor.send('moved', { id, ok: true })
    }
  })
  const answered = new Promise(resolve => predecessor.hear({ moved: ({ id }) => { if (id === 3) resolve(id) } }))
  const files = [1, 2, 3].map(id => {
    const file = new Descriptor(fs.openSync(__filename, 'r'))
    predecessor.send('move', { id, parcel: { key: 'a', leftMs: null } }, file)
    return file
  })
  await answered
  t.same(heard, [[1, true], [2, true], [3, true]])
  t.same(types.slice(2), ['batch', 'batch'], 'there and back')
  for (const file of files) file.close()
  for (const end of ends) end.emit('exit', { code: 0, signal: null })
  for (const fd of [to, from]) fs.closeSync(fd)
})
