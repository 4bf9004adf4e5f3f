'use strict'

const t = require('tap')
const { Figures } = require('../../../lib/tools/report/figures')
const { recycle, cut, drop, line, clientStart, T0 } = require('./written')

function blamed (...lines) {
  const figures = new Figures()
  for (const one of [clientStart(), ...lines.flat()]) figures.add(one)
  return figures.summary()
}

// The recycle at 1000: surge until 1050, drain until 1150, kill until 1170.
const AT = 1000

t.test('a drop is joined by time to its recycle and phase', async t => {
  for (const [ms, phase, recycled] of [[900, 'none', null], [1020, 'surge', 1], [1100, 'drain', 1], [1160, 'kill', 1], [1300, 'kill', 1], [1500, 'none', null]]) {
    const { drops: [found] } = blamed(recycle(AT), drop(ms, { localPort: 1 }))
    t.match(found, { phase, recycle: recycled, joinedBy: recycled && 'time' }, `${ms} ms`)
  }
})

t.test('a drop on a connection that the supervisor cut is joined by its port, whatever else happened', async t => {
  const { drops, recycleEvents, disagreements } = blamed(
    recycle(AT, { slot: 0, oldPid: 100, pid: 101, cut: 1, cuts: [cut(7777)] }),
    recycle(AT, { slot: 1, oldPid: 200, pid: 201 }),
    drop(1152, { localPort: 7777 })
  )
  t.match(drops, [{ recycle: 1, slot: 0, oldPid: 100, pid: 101, phase: 'drain', joinedBy: 'port' }])
  t.match(recycleEvents.map(({ dropped }) => dropped), [1, 0])
  t.same(disagreements, [], 'client and supervisor agree')
})

t.test('the same port at another time is another connection', async t => {
  const { drops } = blamed(recycle(AT, { cut: 1, cuts: [cut(7777)] }), drop(9000, { localPort: 7777 }))
  t.match(drops, [{ recycle: null, phase: 'none', joinedBy: null }])
})

t.test('a port cut once explains one drop, and two pipelined requests two drops', async t => {
  const once = blamed(
    recycle(AT, { cut: 1, cuts: [cut(7777)] }), drop(1150, { localPort: 7777 }), drop(1151, { localPort: 7777 })
  )
  t.same(once.drops.map(({ joinedBy }) => joinedBy), ['port', 'time'])
  t.same(once.disagreements, [{ recycle: 1, client: 2, supervisor: 1 }])
  const pipelined = blamed(recycle(
    AT, { cut: 1, cuts: [cut(7777), cut(7777)] }
  ), drop(1150, { localPort: 7777 }), drop(1151, { localPort: 7777 }))
  t.same(pipelined.drops.map(({ joinedBy }) => joinedBy), ['port', 'port'])
  t.same(pipelined.disagreements, [])
})

t.test('a request that timed out was lost when it was sent', async t => {
  const { drops } = blamed(recycle(AT), recycle(21_000, { oldPid: 300, pid: 301 }), drop(21_100, { error: 'timeout', startedAt: T0 + 1100, localPort: 1 }))
  t.match(drops, [{ recycle: 1, phase: 'drain', joinedBy: 'time' }])
})

t.test('of several recycles at once the one without an account is the likelier', async t => {
  const { drops } = blamed(
    recycle(AT, { slot: 0, oldPid: 100, pid: 101, lost: true, cut: 1 }),
    recycle(AT + 10, { slot: 1, oldPid: 200, pid: 201 }),
    drop(1120, { localPort: 1 })
  )
  t.match(drops, [{ recycle: 1, slot: 0 }])
})

t.test('a drain before the surge has its phases in that order', async t => {
  const lines = recycle(AT).map(one => one.event === 'recycled'
    ? { ...one, how: 'drain-first', drainMs: 100, tookMs: 170 }
    : one.event === 'worker.drain' ? { ...one, t: T0 + 1000 } : one.event === 'worker.retire' ? { ...one, t: T0 + 1110 } : one)
  const phases = [1050, 1105, 1150].map(ms => blamed(lines, drop(ms, { localPort: 1 })).drops[0].phase)
  t.same(phases, ['drain', 'kill', 'surge'])
})

t.test('a drop at the moment of a crash is the crash, not the recycle of another worker', async t => {
  const crash = line(1100, 'worker.crash', { slot: 1, pid: 500, code: 1, signal: null, inFlight: 1 })
  const { drops, disagreements } = blamed(recycle(AT), crash, drop(1102, { localPort: 1 }))
  t.match(drops, [{ recycle: null, crashed: true, slot: 1, oldPid: 500, phase: 'none' }])
  t.same(disagreements, [], 'the supervisor saw the crash too')
})

t.test('drops of a client on unaccounted connections are no disagreement; more drops are', async t => {
  const lost = recycle(AT, { connections: 2, moved: 0, cut: 0, unaccounted: 2, lost: true })
  const drops = [1, 2, 3].map(port => drop(1150, { localPort: port }))
  t.same(blamed(lost).disagreements, [])
  t.same(blamed(lost, ...drops.slice(0, 2)).disagreements, [])
  t.same(blamed(lost, ...drops).disagreements, [{ recycle: 1, client: 3, supervisor: 0 }])
})

t.test('a disagreement shows the figures of both', async t => {
  const { disagreements } = blamed(
    recycle(AT, { cut: 2, cuts: [cut(1), cut(2)] }),
    recycle(5000, { oldPid: 200, pid: 201 }),
    drop(5100, { localPort: 9 }),
    drop(8000, { localPort: 9 }),
    drop(8000, { localPort: 10, error: 'status', status: 500 })
  )
  t.same(disagreements, [
    { recycle: 1, client: 0, supervisor: 2 },
    { recycle: 2, client: 1, supervisor: 0 },
    { recycle: null, client: 1, supervisor: 0 }
  ], 'a wrong status is an answer, not a loss')
})
