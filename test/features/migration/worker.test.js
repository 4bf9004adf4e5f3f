'use strict'

const { EventEmitter } = require('node:events')
const { deserialize, serialize } = require('node:v8')
const t = require('tap')
const { part: migrate } = require('../../../lib/features/migration/worker')

/** @param {Record<string, any>} [of] the connection */
function parts (of = {}) {
  const connection = { id: 7, secure: null, session: null, pack: null, ...of }
  const takers = new Map()
  /** @type {any[]} */
  const thrown = []
  const callApp = (/** @type {string} */ where, /** @type {() => any} */ call) => {
    try {
      return call()
    } catch (error) {
      thrown.push({ where, message: /** @type {Error} */ (error).message })
    }
  }
  const tracker = { of: () => /** @type {any} */ (connection) }
  const emptying = { holds: /** @type {any[]} */ ([]), check () {} }
  const channel = {
    sent: /** @type {any[]} */ ([]),
    receive: /** @type {Record<string, any>} */ ({}),
    on: (/** @type {any} */ handlers) => Object.assign(channel.receive, handlers),
    send: (/** @type {string} */ type, /** @type {any} */ fields) => channel.sent.push({ type, ...fields })
  }
  const { api } = /** @type {any} */ (migrate(/** @type {any} */ ({
    tracker, inbox: { takers }, callApp, channel, emptying
  })))
  return { connection: /** @type {any} */ (connection), takers, thrown, api, channel, emptying, tracker }
}

t.test('it is asked until it gives something, and not before this worker could take it back', async t => {
  const { connection, api } = parts()
  const answers = [null, { state: { n: new Map([[1, 2]]) }, unread: Buffer.from('half') }, {}]
  api.movable({}, 'game', () => answers.shift())
  t.equal(connection.pack(), null)
  t.equal(answers.length, 3)
  api.onMoved('game', () => {})
  t.equal(connection.pack(), null)
  const { kind, state, unread } = connection.pack()
  t.same([kind, deserialize(state), String(unread)], ['game', { n: new Map([[1, 2]]) }, 'half'])
  t.match(connection.pack(), { kind: 'game', unread: Buffer.alloc(0) })
  let left = 0
  answers.push({ state: 'x'.repeat(2_000_000), onLeave: () => { left++ } }, { onLeave: () => { left++ } })
  t.equal(connection.mayRebalance, true)
  const keep = connection.pack
  t.equal(keep(), null)
  t.equal(left, 0, 'not of one that stays')
  t.ok(keep())
  t.equal(left, 1)
  api.movable({}, 'game', () => null, { rebalance: false })
  t.equal(connection.mayRebalance, false)
})

t.test('what the app sends to one that has gone follows it, until the other worker has it', async t => {
  const { connection, api, channel, emptying } = parts()
  const log = /** @type {string[]} */ ([])
  /** @type {(bytes: Buffer | null) => void} */
  let pass = () => {}
  const begin = (/** @type {any} */ fn) => { pass = fn }
  const follow = { begin, back: () => log.push('back'), end: () => log.push('end') }
  api.onMoved('game', () => {})
  api.movable({}, 'game', () => ({ follow }))
  const [gone, back] = [connection.pack(), connection.pack()].map(({ trail }) => trail)
  pass(Buffer.from('kept'))
  back.back({ write: (/** @type {Buffer} */ bytes) => log.push(String(bytes)) })
  t.same(log.splice(0), ['back', 'kept'], 'no sibling took it')
  gone.moved()
  t.ok(emptying.holds.some(({ isActive }) => isActive()))
  channel.receive.ahead({ id: 7, mark: 3 })
  for (let i = 0; i < 3; i++) await new Promise(resolve => setImmediate(resolve))
  channel.receive.ahead({ id: 7, mark: null })
  t.same(channel.sent, [{ type: 'behind', id: 7, mark: 3 }, { type: 'behind', id: 7, isOver: true }])
  t.same(log, ['end'])
  t.notOk(emptying.holds.some(({ isActive }) => isActive()))
})

t.test('what is too large, cannot be copied, or throws keeps it here for good, and is told once', async t => {
  for (const [give, message] of /** @type {const} */ ([
    [() => ({ state: 'x'.repeat(1_000_001) }), /^the state of a connection has 1\d+ bytes, and moves with 1000000 at the most: it stays in its worker$/],
    [() => ({ unread: Buffer.alloc(1_000_001) }), /^1000001 bytes of a connection are unread, /],
    [() => ({ state: () => {} }), /could not be cloned/],
    [() => { throw new Error('not now') }, /^not now$/]
  ])) {
    const { connection, api, thrown } = parts()
    api.onMoved('game', () => {})
    api.movable({}, 'game', give)
    t.equal(connection.pack(), null)
    t.same([connection.pack, connection.stays], [null, 'threw'])
    t.match(thrown, [{ where: 'movable', message }])
  }
})

t.test('not one of TLS or HTTP/2, nor one that is not known', async t => {
  for (const [of, why] of /** @type {const} */ ([[{ secure: {} }, 'tls'], [{ session: {} }, 'http2']])) {
    const { connection, api } = parts(of)
    t.equal(api.movable({}, 'game', () => ({})), false)
    t.same([connection.pack, connection.stays], [null, why])
  }
  const { api, tracker } = parts()
  tracker.of = () => undefined
  api.movable({}, 'game', () => ({}))
})

t.test('a socket that the app does not take is destroyed', async t => {
  const { api, takers, thrown } = parts()
  /** @type {any[]} */
  const taken = []
  api.onMoved('game', (/** @type {any} */ socket, /** @type {any} */ state, /** @type {Buffer} */ unread) => {
    taken.push({ state, unread: String(unread) })
    if (state === 'bad') throw new Error('what is this')
  })
  let destroyed = 0
  const socket = Object.assign(new EventEmitter(), { destroy: () => { destroyed++ } })
  takers.get('game')(socket, serialize('good'), Buffer.from('a'))
  t.equal(destroyed, 0)
  takers.get('game')(socket, serialize('bad'), Buffer.from('b'))
  t.equal(destroyed, 1)
  t.same(taken, [{ state: 'good', unread: 'a' }, { state: 'bad', unread: 'b' }])
  t.match(thrown, [{ where: 'onMoved', message: 'what is this' }])
})

t.test('a kind is a text', async t => {
  const { api } = parts()
  for (const bad of ['', 'x'.repeat(101), 7, undefined]) t.throws(() => api.onMoved(bad, () => {}), { message: /^the kind of a connection is a text of 1 to 100 characters; it is / })
})
