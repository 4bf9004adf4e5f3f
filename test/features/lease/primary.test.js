'use strict'

const { spawn, spawnSync } = require('node:child_process')
const { EventEmitter } = require('node:events')
const { setTimeout: after } = require('node:timers/promises')
const { Heard } = require('../../support/heard')
const t = require('tap')
const { Leases } = require('../../../lib/features/lease/primary')

function primary () {
  const kernel = {
    at: 0,
    adoption: Object.assign(new EventEmitter(), { isWaiting: false }),
    now: () => kernel.at,
    legacy: { tellSoon () {} },
    /** @type {any[]} */
    lines: [],
    record: (/** @type {string} */ event, /** @type {any} */ fields) => kernel.lines.push({ event, ...fields })
  }
  const leases = new Leases(/** @type {any} */ (kernel))
  const worker = (/** @type {number | null} */ slot, /** @type {number} */ pid, state = 'ready', more = {}) => {
    const handle = /** @type {any} */ (Object.assign(
      new Heard(), { slot, pid, state, known: {}, /** @type {any[]} */ sent: [], ...more }
    ))
    handle.send = (/** @type {string} */ type, /** @type {any} */ fields) => handle.sent.push({ type, ...fields })
    leases.connect(handle)
    return handle
  }
  const holders = () => kernel.lines.map(({ pid }) => pid)
  return { kernel, leases, worker, holders }
}

t.test('a worker that serves gets the lease of its slot when it asks', async t => {
  const { kernel, worker } = primary()
  const a = worker(3, 1)
  t.same(a.known, {})
  a.say('lease')
  t.same(a.sent, [{ type: 'lease', slot: 3 }])
  t.same(kernel.lines, [{ event: 'worker.lease', slot: 3, pid: 1, waitedMs: 0 }])
  t.same(a.known, { lease: 'held' })
})

t.test('one that boots, or stands by, gets it when it is ready in a slot', async t => {
  const { kernel, worker } = primary()
  const a = worker(null, 1, 'standby')
  a.say('lease')
  t.same([a.sent, a.known], [[], { lease: 'waits' }])
  kernel.at = 40
  Object.assign(a, { slot: 0, state: 'ready' }).emit('ready')
  t.same(a.sent, [{ type: 'lease', slot: 0 }])
  t.match(kernel.lines, [{ waitedMs: 40 }])
})

t.test('out of rotation a worker gets it too: what it does with it takes no requests', async t => {
  const { worker } = primary()
  const a = worker(0, 1, 'out-of-rotation')
  a.say('lease')
  t.same(a.sent, [{ type: 'lease', slot: 0 }])
})

for (const how of ['lease', 'exit']) {
  t.test(`a replacement gets it when its predecessor has given it back: ${how}`, async t => {
    const { kernel, worker, holders } = primary()
    const [old, other, next] = [worker(0, 1), worker(1, 2), worker(0, 3)]
    for (const handle of [old, other, next]) handle.say('lease')
    t.same(holders(), [1, 2])
    t.same(next.known, { lease: 'waits' })
    old.state = 'draining'
    next.emit('ready')
    t.same(holders(), [1, 2], 'not while the other one drains')
    kernel.at = 500
    if (how === 'exit') old.emit(how)
    else old.say(how, { isOver: true })
    t.same(holders(), [1, 2, 3])
    t.equal(kernel.lines[2].waitedMs, 500)
    t.same([old.known, other.known, next.known], [{}, { lease: 'held' }, { lease: 'held' }])
    old.emit('exit')
    t.same(next.known, { lease: 'held' }, 'what it has given back is not taken from the next one')
    worker(0, 4).say('lease')
    t.same(holders(), [1, 2, 3])
  })
}

t.test('a worker of the primary before that is not found, as its event loop is blocked, has its lease until it is gone, or tells', async t => {
  const child = spawn('sleep', ['60'])
  t.teardown(() => child.kill('SIGKILL'))
  const old = primary()
  old.worker(0, Number(child.pid)).say('lease')
  old.worker(1, process.pid).say('lease')
  old.worker(2, spawnSync('true').pid).say('lease') // it had gone when its start was asked for
  const middle = primary()
  middle.leases.inherit(await old.leases.bequeath())
  const { leases, worker, holders } = primary()
  leases.inherit(await middle.leases.bequeath())
  for (const slot of [0, 1, 2]) worker(slot, slot + 10).say('lease')
  t.same(holders(), [12])
  worker(5, process.pid, 'ready', { isAdopted: true }).say('lease', { isOver: true })
  t.same(holders(), [12, 11], 'it has told')
  child.kill('SIGKILL')
  await after(1500)
  t.same(holders(), [12, 11, 10], 'it is gone')
})

t.test('one that leaves, or has left, before it is its turn never gets it', async t => {
  const { worker, holders } = primary()
  const [old, leaving, gone, next] = [worker(0, 1), worker(0, 2), worker(0, 3), worker(0, 4)]
  for (const handle of [old, leaving, gone, next]) handle.say('lease')
  leaving.state = 'draining'
  gone.emit('exit')
  old.emit('exit')
  t.same(holders(), [1, 4])
})

t.test('there is none while a worker of the primary before may have it', async t => {
  const { kernel, worker, holders } = primary()
  kernel.adoption.isWaiting = true
  const [a, b] = [worker(0, 1), worker(1, 2)]
  a.say('lease')
  b.say('lease')
  kernel.adoption.emit('looked')
  t.same(holders(), [])
  const adopted = worker(2, 3, 'ready', { isAdopted: true })
  kernel.adoption.isWaiting = false
  kernel.adoption.emit('looked')
  t.same(holders(), [], 'it has not told yet')
  adopted.say('lease', { held: 0 })
  t.same([holders(), adopted.known], [[2], { lease: 'held' }], 'it has another slot by now')
  adopted.say('lease', { isOver: true })
  t.same(holders(), [2, 1])
  t.equal(kernel.adoption.listenerCount('looked'), 0)
})
