'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { drawBudget } = require('../../../lib/core/budget')
const { message } = require('../../../lib/core/message')
const { resolveOptions } = require('../../../lib/core/options')
const { WorkerHandle } = require('../../../lib/primary/workers/worker-handle')

const BEAT = {
  requests: 9,
  inFlight: 2,
  connections: 5,
  lasting: 3,
  elu: 0.25,
  gc: { scavenges: { count: 1, totalMs: 2, longestMs: 2 }, markSweeps: { count: 0, totalMs: 0, longestMs: 0 } },
  loopLagMs: 1.5,
  heap: null,
  lagP99Ms: null,
  debugged: false,
  ceiling: null
}

/** A worker, and what its process says and is told. @param {number | null} slot */
function worker (slot) {
  /** @type {Record<string, any>[]} */
  const told = []
  const process = Object.assign(new EventEmitter(), { pid: 4321, forkedBy: null, send: (/** @type {any} */ sent) => told.push(sent), kill () {} })
  const budget = drawBudget(resolveOptions({ maxRss: '512MiB', maxRequests: 1000 }, { parallelism: 2 }), 2, 0.5)
  const handle = new WorkerHandle(slot, /** @type {any} */ (process), { generation: 3, budget, mustListenOn: new Set(['a']), readyOn: 'listening' })
  const says = (/** @type {string} */ type, /** @type {any} */ fields) => process.emit('message', message(type, fields))
  return { handle, says, told, budget }
}

t.test('the facts of a worker are plain data: through JSON nothing of them is lost', async t => {
  const { handle, says, budget } = worker(1)
  t.same(JSON.parse(JSON.stringify(handle.facts())), handle.facts(), 'while it boots')
  t.match(handle.facts(), { state: 'spawning', upSince: null, calledAt: null, addresses: [], hasEntered: false })

  says('hello', { heapLimitBytes: 2 ** 31 })
  says('listen', { id: 1, key: 'b', query: { address: null, port: 80, addressType: 4 } })
  for (const key of ['a', 'b']) says('listening', { key, missing: null })
  says('beat', BEAT)
  handle.reason = 'rss'
  handle.condemnedAt = handle.spawnedAt + 1
  const facts = handle.facts()
  t.same(JSON.parse(JSON.stringify(facts)), facts)
  t.match(facts, {
    slot: 1, pid: 4321, generation: 3, budget, state: 'ready', reason: 'rss', requested: null, hasEntered: true, connections: 5, latest: BEAT, addresses: ['a', 'b'], asked: ['b']
  })
  for (const time of ['spawnedAt', 'upSince', 'heardAt']) t.ok(/** @type {any} */ (facts)[time] <= facts.at, `${time} has been`)
})

t.test('a standby is up when it has booted, and again when it serves in its slot', async t => {
  const { handle, says, told } = worker(null)
  says('listening', { key: 'a', missing: null })
  t.match(handle.facts(), { slot: null, state: 'standby', calledAt: null, upSince: Number })
  handle.serve(2)
  t.match(handle.facts(), { slot: 2, state: 'standby', calledAt: Number })
  says('answer', { id: told[0].id, why: null })
  await handle.next(['ready'], 1000)
  const { state, calledAt, upSince } = handle.facts()
  t.equal(state, 'ready')
  t.ok(Number(upSince) >= Number(calledAt))
  t.equal(handle.readyMs, Number(upSince) - Number(calledAt))
})

t.test('what a worker says by a message that changes none of its facts is emitted by the message\'s type, and heard', async t => {
  const { handle, says } = worker(0)
  handle.heardAt = 0
  /** @type {any[]} */
  const heard = []
  handle.on('full', fields => heard.push(fields.isAtCeiling))
  says('full', { isAtCeiling: true })
  t.same(heard, [true])
  t.ok(handle.heardAt > 0)
})
