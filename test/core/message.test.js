'use strict'

const fc = require('fast-check')
const t = require('tap')
const { FROM_WORKER, FROM_PRIMARY, message, ourMessage, flawOf, checkHandlers } = require('../../lib/core/message')

const SOCKET = { readStop () {}, close () {} }

t.test('a message travels as one of Node\'s internal ones, so that the app never sees it', async t => {
  t.same(message('keep', { id: 3 }), { cmd: 'NODE_RECYCLE', type: 'keep', id: 3 })
  t.same(message('hello'), { cmd: 'NODE_RECYCLE', type: 'hello' })
  t.ok(message('hello').cmd.startsWith('NODE_'))
  t.same(ourMessage(JSON.parse(JSON.stringify(message('hello')))), message('hello'))
  for (const received of [undefined, null, 'keep', 5, {}, { type: 'keep' }, { cmd: 'NODE_CLUSTER', type: 'keep' }, { cmd: 'NODE_HANDLE_ACK' }]) {
    t.equal(ourMessage(received), null)
  }
})

t.test('a flaw is named: the type, the field, or the handle that came with the message', async t => {
  const flaw = (/** @type {any} */ type, /** @type {any} */ fields, /** @type {any} */ handle) => flawOf(FROM_WORKER, message(type, fields), handle)
  t.equal(flaw('adopted', { id: 3 }), null)
  t.equal(flaw('offer', { id: 3, parcel: { key: 'k', leftMs: null } }, SOCKET), null)
  t.equal(flaw('offer', { id: 3, parcel: { key: 'k', leftMs: null } }), null, 'its socket may have ended on the way')
  t.equal(flaw('offer', { id: 3, parcel: { key: 'k', leftMs: 5, bytes: 'aGVhZA==' } }, SOCKET), null)
  t.match(flaw('offer', { id: 3, parcel: { key: 'k', leftMs: 5, bytes: 7 } }, SOCKET), /^its parcel\.bytes must be text/)
  t.equal(flaw('adopted', { id: 3 }, SOCKET), 'it must come without a handle')
  t.equal(flaw('offer', { id: 3, parcel: { key: 'k', leftMs: null } }, { destroy () {} }), 'its handle must be a TCP or pipe handle')
  t.equal(flaw('adopted', { id: -1 }), 'its id must be a whole number from 0 to 2^53')
  t.match(flaw('listen', { id: 1, key: 'k', query: { port: 'x', address: null, addressType: 4 } }), /^its query\.port must be a whole number, or null/)
  for (const type of ['__proto__', 'toString', 'nonsense', '', undefined, null, 7, {}]) t.equal(flaw(type, {}), 'there is no message of this type')
})

t.test('whatever a worker sends, check() returns a flaw or null and never throws', async t => {
  const types = fc.oneof(fc.constantFrom(...Object.keys(FROM_WORKER)), fc.anything())
  fc.assert(fc.property(types, fc.object(), (type, fields) => {
    const flaw = flawOf(FROM_WORKER, JSON.parse(JSON.stringify(message(/** @type {any} */ (type), fields)) ?? 'null') ?? message('hello'))
    return flaw === null || typeof flaw === 'string'
  }))
})

t.test('a handler for an unknown message, or a second handler for one message, is an error at load', async t => {
  t.throws(() => checkHandlers(FROM_PRIMARY, { kep: () => {} }), { message: 'there is no message kep' })
  t.throws(() => checkHandlers(FROM_PRIMARY, { toString: () => {} }), { message: 'there is no message toString' })
  t.throws(() => checkHandlers(FROM_PRIMARY, { keep: () => {} }, { keep: () => {} }), { message: 'the message keep has a handler already' })
  t.doesNotThrow(() => checkHandlers(FROM_PRIMARY, { keep: () => {}, drop: () => {} }, { moved: () => {} }))
})

t.test('a message whose handle was lost on the way is delivered without it; one whose handle arrived is delivered by Node', async t => {
  const carried = (/** @type {number} */ id) => ({ cmd: 'NODE_HANDLE', type: 'net.Native', msg: message('keep', { id }) })
  t.same(ourMessage(carried(1), undefined), message('keep', { id: 1 }))
  t.equal(ourMessage(carried(2), {}), null)
  t.equal(ourMessage({ cmd: 'NODE_HANDLE', type: 'net.Socket', msg: { what: 'the app sends a socket' } }, undefined), null)
})
