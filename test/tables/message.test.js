'use strict'

const fs = require('node:fs')
const path = require('node:path')
const acorn = require('acorn')
const walk = require('acorn-walk')
const fc = require('fast-check')
const t = require('tap')
const { message, ourMessage, Handlers } = require('../../lib/core/envelope')
const { FROM_PREDECESSOR, FROM_SUCCESSOR } = require('../../lib/tables/primary-message')
const { VERBS, FROM_WORKER, FROM_PRIMARY, flawOf } = require('../../lib/tables/message')
const { messageTypes } = require('../message-types')

const MOST_KINDS = 45
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

t.test('what the code of workers handles is in the table, which workers do not load', async t => {
  const lib = path.join(__dirname, '..', '..', 'lib')
  /** @type {Map<string, string>} */
  const handled = new Map()
  for (const file of fs.readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!/^worker\/.*\.js$|^features\/[^/]+\/(worker|transfers)\.js$/.test(file)) continue
    walk.simple(acorn.parse(fs.readFileSync(path.join(lib, file), 'utf8'), { ecmaVersion: 'latest', sourceType: 'script' }), {
      CallExpression ({ callee, arguments: [handlers] }) {
        if (callee.type !== 'MemberExpression' || handlers?.type !== 'ObjectExpression') return
        const { object, property } = /** @type {any} */ (callee)
        const on = object.property?.name ?? object.name ?? object.type
        if (!['channel', 'ThisExpression'].includes(on) || !['on', 'answer'].includes(property.name)) return
        for (const { computed, key } of /** @type {any[]} */ (handlers.properties)) {
          if (!computed) handled.set(key.name ?? key.value, file)
        }
      }
    })
  }
  t.ok(handled.size >= 20, `${handled.size} of ${Object.keys(FROM_PRIMARY).length}`)
  for (const [type, file] of handled) t.ok(Object.hasOwn({ ...FROM_PRIMARY, ...VERBS }, type), `${type}, in ${file}`)
})

t.test('the types are those of the shapes (npm run schema)', async t => {
  t.equal(fs.readFileSync(path.join(__dirname, '..', '..', 'lib', 'messages.d.ts'), 'utf8'), messageTypes())
})

t.test('there are few kinds of message of workers, their primary and another one', async t => {
  const tables = [FROM_WORKER, FROM_PRIMARY, FROM_PREDECESSOR, FROM_SUCCESSOR]
  const kinds = new Set(tables.flatMap(table => Object.keys(table)))
  t.ok(kinds.size <= MOST_KINDS, `${kinds.size}: ${[...kinds].join(', ')}`)
})

t.test('a flaw is named: the type, the field, or the handle that came with the message', async t => {
  const flaw = (/** @type {any} */ type, /** @type {any} */ fields, /** @type {any} */ handle) =>
    flawOf(FROM_WORKER, message(type, fields), handle)
  t.equal(flaw('moved', { id: 3, ok: true }), null)
  t.equal(flaw('move', { id: 3, parcel: { key: 'k', leftMs: null } }, SOCKET), null)
  t.equal(flaw('move', { id: 3, parcel: { key: 'k', leftMs: null } }), null, 'its socket may have ended on the way')
  t.equal(flaw('move', { id: 3, parcel: { key: 'k', leftMs: 5, bytes: 'aGVhZA==' } }, SOCKET), null)
  t.match(flaw('move', { id: 3, parcel: { key: 'k', leftMs: 5, bytes: 7 } }, SOCKET), /^its parcel\.bytes must be text/)
  t.equal(flaw('moved', { id: 3, ok: true }, SOCKET), 'it must come without a handle')
  t.equal(flaw('move', { id: 3, parcel: { key: 'k', leftMs: null } }, { destroy () {} }), 'its handle must be a TCP or pipe handle')
  t.equal(flaw('moved', { id: -1, ok: true }), 'its id must be a whole number from 0 to 2^53')
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
  const handlers = new Handlers(FROM_PRIMARY)
  const heard = /** @type {any[]} */ ([])
  handlers.add({ moved: (...all) => heard.push(all) })
  t.throws(() => handlers.add({ mved: () => {} }), { message: 'there is no message mved' })
  t.throws(() => handlers.add({ toString: () => {} }), { message: 'there is no message toString' })
  t.throws(() => handlers.add({ move: () => heard.push('move'), moved: () => {} }), { message: 'the message moved has a handler already' })
  for (const type of ['moved', 'move', 'mved', 'toString', '__proto__']) handlers.call(type, { id: 1 }, SOCKET)
  t.same(heard, [[{ id: 1 }, SOCKET]], 'the one that it has; of those that are refused, none is added')
})

t.test('a message whose handle was lost on the way is delivered without it; one whose handle arrived is delivered by Node', async t => {
  const carried = (/** @type {number} */ id) => ({ cmd: 'NODE_HANDLE', type: 'net.Native', msg: message('keep', { id }) })
  t.same(ourMessage(carried(1), undefined), message('keep', { id: 1 }))
  t.equal(ourMessage(carried(2), {}), null)
  t.equal(ourMessage({ cmd: 'NODE_HANDLE', type: 'net.Socket', msg: { what: 'the app sends a socket' } }, undefined), null)
})

t.test('a handle is the bare one of a TCP or unix socket that this package has sent, or a descriptor', async t => {
  const isTaken = (/** @type {any} */ handle) => flawOf(FROM_WORKER, message('move', { id: 3, parcel: { key: 'k', leftMs: null } }), handle) === null
  t.ok(isTaken({ isDescriptor: true, close () {} }))
  t.notOk(isTaken({ isDescriptor: false, close () {} }), 'a server')
  t.notOk(isTaken({ isDescriptor: true }), 'it cannot be closed')
  t.notOk(isTaken({ readStop () {} }))
  t.ok(isTaken({ ...SOCKET, isOfApp: false }))
  t.notOk(isTaken({ ...SOCKET, isOfApp: true }), 'it belongs to the app')
})

t.test('a beat may have what features add to it, checked as the rest', async t => {
  const pauses = { count: 0, totalMs: 0, longestMs: 0 }
  const beat = {
    requests: 0,
    inFlight: 0,
    connections: 0,
    lasting: 0,
    streams: 0,
    elu: 0,
    cpuUs: 0,
    movable: 0,
    gc: { scavenges: pauses, markSweeps: pauses },
    loopLagMs: 0,
    inspectorPort: null,
    flexible: true,
    ceiling: null
  }
  t.equal(flawOf(FROM_WORKER, message('beat', beat)), null)
  t.equal(flawOf(FROM_WORKER, message('beat', { ...beat, handles: 3 })), null)
  t.match(flawOf(FROM_WORKER, message('beat', { ...beat, handles: 'x' })), /^its handles must be/)
})

t.test('texts and lists have a longest length: one more is a flaw', async t => {
  const text = (/** @type {number} */ length) => 'x'.repeat(length)
  const offer = (/** @type {any} */ parcel) => ['move', { id: 1, parcel: { key: 'k', leftMs: null, ...parcel } }]
  const listen = (/** @type {any} */ data) => ['listen', { id: 1, key: 'k', query: { address: null, port: 80, addressType: 4 }, data }]
  const inFlight = (/** @type {any[]} */ requests) => ['in-flight', { requests, isAll: false }]
  /** @type {[number, any, (length: number) => any[]][]} */
  const limits = [
    [8192, FROM_WORKER, length => ['listening', { key: text(length), missing: null }]],
    [2000, FROM_WORKER, length => ['listening', { key: 'k', missing: text(length) }]],
    [200, FROM_WORKER, length => ['requested', { reason: text(length) }]],
    [200, FROM_WORKER, length => ['pause', { reason: text(length) }]],
    [500, FROM_WORKER, length => ['exception', { error: text(length) }]],
    [500, FROM_WORKER, length => ['tell', { of: 'threw', where: 'x', error: text(length) }]],
    [100, FROM_WORKER, length => ['tell', { of: 'threw', where: text(length), error: 'x' }]],
    [100, FROM_WORKER, length => ['hello', { heapLimitBytes: 1, version: text(length), inspectorPort: null }]],
    [1000, FROM_WORKER, length => ['batch', { number: 1, messages: Array(length).fill({}) }]],
    [100, FROM_WORKER, length => inFlight(Array(length).fill({ request: 'GET /', count: 1 }))],
    [200, FROM_WORKER, length => inFlight([{ request: text(length), count: 1 }])],
    [1_400_000, FROM_WORKER, length => offer({ bytes: text(length) })],
    [1000, FROM_WORKER, length => listen({ ticketKeys: text(length) })],
    [100, FROM_WORKER, length => listen({ ticketKeys: '', options: text(length) })],
    [100, FROM_PRIMARY, length => ['drain', { reason: text(length), deadlineMs: 1, lingerMs: null, handoff: true, replayAfterMs: null }]],
    [20, FROM_PRIMARY, length => ['do', { id: 1, verb: 'signal', signal: text(length) }]]
  ]
  for (const [most, kinds, of] of limits) {
    const flaws = [most, most + 1].map(length => {
      const [type, fields] = of(length)
      return flawOf(kinds, message(type, fields))
    })
    t.equal(flaws[0], null, `${of(0)[0]}: ${most}`)
    t.type(flaws[1], 'string', `${of(0)[0]}: ${most + 1}`)
  }
})
