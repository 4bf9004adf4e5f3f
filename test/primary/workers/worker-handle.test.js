'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { version } = require('../../../package.json')
const { openAccount } = require('../../../lib/core/account')
const { drawBudget } = require('../../../lib/tables/budget')
const { message } = require('../../../lib/core/envelope')
const { resolveOptions } = require('../../../lib/tables/resolved-options')
const { kill } = require('../../../lib/primary/workers/retirement')
const { WorkerHandle } = require('../../../lib/primary/workers/worker-handle')

const BEAT = {
  requests: 9,
  inFlight: 2,
  connections: 5,
  lasting: 3,
  streams: 0,
  elu: 0.25,
  cpuUs: 1000,
  movable: 0,
  gc: { scavenges: { count: 1, totalMs: 2, longestMs: 2 }, markSweeps: { count: 0, totalMs: 0, longestMs: 0 } },
  loopLagMs: 1.5,
  heapUsedBytes: null,
  heapLimitBytes: null,
  lagP99Ms: null,
  inspectorPort: null,
  flexible: true,
  ceiling: null
}

/** A worker, and what its process says and is told. @param {number | null} slot */
function worker (slot) {
  /** @type {Record<string, any>[]} */
  const told = []
  const process = Object.assign(
    new EventEmitter(), { pid: 4321, forkedBy: null, send: (/** @type {any} */ sent) => told.push(sent), kill () {} }
  )
  const budget = drawBudget(resolveOptions({ maxRss: '512MiB', maxRequests: 1000 }, { parallelism: 2 }), 2, 0.5)
  const handle = new WorkerHandle(slot, /** @type {any} */ (process), { id: 'a-1', generation: 3, budget, required: { must: new Set(['a']), late: new Set(), lateMs: 0, before: new Set() }, readyOn: 'listening' })
  const says = (/** @type {string} */ type, /** @type {any} */ fields) => process.emit('message', message(type, fields))
  const listens = (/** @type {string} */ key) => {
    says('listen', { id: 1, key, query: { address: null, port: 80, addressType: 4 } })
    says('listening', { key, missing: null })
  }
  return { handle, says, listens, told, budget }
}

t.test('a worker boots, is called, serves, and is condemned', async t => {
  const { handle, says, listens, told, budget } = worker(1)
  t.match(handle, { state: 'spawning', upSince: null, calledAt: null, addresses: new Set(), hasEntered: false })
  says('hello', { heapLimitBytes: 2 ** 31, version, inspectorPort: null })
  for (const key of ['a', 'b']) listens(key)
  handle.serve(1)
  says('answer', { id: told.find(({ verb }) => verb === 'serve')?.id, why: null })
  await handle.next(['ready'], 1000)
  says('beat', BEAT)
  handle.condemnation.condemn('rss', handle.spawnedAt + 1)
  t.match(handle, { slot: 1, pid: 4321, generation: 3, budget, state: 'ready', reason: 'rss', hasEntered: true, connections: 5, latest: BEAT })
  t.equal(handle.condemnation.requested, null)
  t.same([...handle.addresses], ['a', 'b'])
  t.same([...handle.asked.keys()], ['a', 'b'])
})

t.test('a standby is up when it has booted, and again when it serves in its slot', async t => {
  const { handle, says, listens, told } = worker(null)
  handle.once('up', () => handle.standBy())
  listens('a')
  t.match(handle, { slot: null, state: 'standby', calledAt: null, upSince: Number })
  handle.serve(2)
  t.match(handle, { slot: 2, state: 'standby', calledAt: Number })
  says('answer', { id: told[0].id, why: null })
  await handle.next(['ready'], 1000)
  const { state, calledAt, upSince } = handle
  t.equal(state, 'ready')
  t.ok(Number(upSince) >= Number(calledAt))
  t.equal(handle.readyMs, Number(upSince) - Number(calledAt))
})

t.test('each message has one handler', async t => {
  const { handle, says } = worker(0)
  handle.heardAt = 0
  /** @type {any[]} */
  const heard = []
  says('full', { isAtCeiling: true }) // none yet
  handle.hear({ full: fields => { heard.push(fields.isAtCeiling) } })
  says('full', { isAtCeiling: false })
  t.same(heard, [false])
  t.ok(handle.heardAt > 0)
  t.throws(() => handle.hear({ full () {} }), { message: 'the message full has a handler already' })
  t.throws(() => handle.hear({ beat () {} }), { message: 'the message beat has a handler already' })
  t.throws(() => handle.on('full', () => {}), { message: 'there is no event full' })
  t.throws(() => handle.hear({ level () {} }), { message: 'there is no message level' }, 'it is the primary that says so')
})

t.test('a message at which the primary fails is a flaw of the worker, and the next one is heard', async t => {
  const { handle, says } = worker(0)
  /** @type {any[]} */
  const flaws = []
  handle.on('flaw', flaw => flaws.push(flaw))
  handle.hear({ full () { throw new TypeError('as told') } })
  says('full', { isAtCeiling: true })
  t.match(flaws, [{ type: 'full', flaw: /^the primary failed at it: TypeError: as told {4}at / }])
  t.equal(handle.condemnation.requested, 'protocol-error')
  says('beat', BEAT)
  t.match(handle.latest, BEAT)
})

t.test('of each address is known how long the worker was up when it first asked for it', async t => {
  const { handle, listens } = worker(0)
  listens('a')
  handle.standBy()
  handle.upSince = Number(handle.upSince) - 10_000
  for (const key of ['a', 'b']) listens(key)
  t.match([...handle.asked], [['a', 0], ['b', Number]])
  t.ok(Number(handle.asked.get('b')) >= 10_000)
})

t.test('a worker gives no account before it is told to leave', async t => {
  const { handle, says, listens } = worker(0)
  listens('a')
  /** @type {any[]} */
  const flaws = []
  handle.on('flaw', flaw => flaws.push(flaw))
  says('drained', { account: openAccount(0, 0) })
  t.same(flaws, [{ type: 'drained', flaw: 'it has not been told to leave' }])
  t.equal(handle.account, null)
  handle.become('draining')
  says('drained', { account: openAccount(0, 0) })
  t.same(handle.account, openAccount(0, 0))
})

t.test('a worker listens only on addresses that it has asked for', async t => {
  const { handle, says } = worker(0)
  /** @type {any[]} */
  const flaws = []
  handle.on('flaw', flaw => flaws.push(flaw))
  says('listening', { key: 'a', missing: null })
  t.same(flaws, [{ type: 'listening', flaw: 'it has not asked for this address' }])
  t.match(handle, { state: 'spawning', addresses: new Set(), condemnation: { requested: 'protocol-error' } })
})

t.test('a worker of another version of recycle is told apart before anything else of its message is looked at', async t => {
  const { handle, says } = worker(0)
  const foreign = handle.next(['foreign'], 1000)
  says('hello', { version: '99.0.0', isNew: true })
  t.match(await foreign, { event: 'foreign', value: '99.0.0' })
  t.equal(handle.condemnation.requested, null)
})

t.test('a call is answered, also where the handle of its answer has been closed before Node sends it', async t => {
  const { handle, says } = worker(1)
  /** @type {any[]} */
  const sent = []
  Object.assign(handle.process, {
    send (/** @type {any} */ message, /** @type {any} */ socket, /** @type {any} */ done) {
      sent.push({ ...message, hasSocket: socket !== undefined })
      done(socket === undefined ? null : new Error('EBADF'))
    }
  })
  handle.on('address', (fields, answer) => answer({ errno: 0 }, {}))
  says('listen', { id: 7, key: 'a', query: { address: null, port: 80, addressType: 4 } })
  t.match(sent, [{ type: 'answer', id: 7, hasSocket: true }, { type: 'answer', id: 7, hasSocket: false }])
  t.match(await handle.call('probe', {}, 60_000, {}), { why: /could not be sent: EBADF/ })
})

t.test('an answer that lacks what an answer to this verb has is a flaw, and the call goes on waiting', async t => {
  const { handle, says, told } = worker(1)
  /** @type {any[]} */
  const flaws = []
  handle.on('flaw', flaw => flaws.push(flaw))
  const answer = handle.call('profile', { durationMs: 1, file: '/x' }, 60_000)
  const { id } = /** @type {any} */ (told.at(-1))
  says('answer', { id, why: null })
  t.same(flaws, [{ type: 'answer', flaw: 'its bytes must be a whole number from 0 to 2^53' }])
  says('answer', { id, why: null, bytes: 3, tookMs: 1.5 })
  t.match(await answer, { why: null, bytes: 3, tookMs: 1.5, isHeard: true })
  says('answer', { id, why: null }) // to none
  const other = handle.call('profile', { durationMs: 1, file: '/x' }, 60_000)
  says('answer', { id: id + 1, why: 'another profile is being taken' })
  t.match(await other, { why: 'another profile is being taken', isHeard: true })
})

t.test('a worker is killed all the same where what is asked before does not end, or throws', async t => {
  for (const beforeKill of [() => new Promise(() => {}), async () => { throw new Error('as it may') }]) {
    const { handle, listens } = worker(0)
    listens('a')
    const process = /** @type {any} */ (handle.process)
    /** @type {string[][]} */
    const signals = []
    process.kill = (/** @type {string[]} */ ...how) => {
      signals.push(how)
      process.emit('exit', { code: null, signal: 'SIGKILL' })
    }
    await kill(handle, 'kill-timeout', { beforeKill })
    t.same(signals, [['SIGKILL', 'kill-timeout']])
    t.equal(handle.isGone, true)
  }
})
