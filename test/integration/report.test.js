'use strict'

const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { readReport } = require('../../lib/tools/report')
const { startFleet } = require('../support/fleet')
const { ndjson } = require('../tools/report/written')

t.test('a request that a real drain cuts is joined to that recycle by its port', async t => {
  const { port, supervisor, events } = await startFleet(t, 'holding.js', { drainTimeout: '300ms', replay: 'off' })
  const held = hold(port)
  const { slot, pid: oldPid } = await events.until('worker.sample', { where: line => line.inFlight === 1 })
  const recycled = await supervisor.recycle(slot)
  t.equal(recycled.cut, 1)
  await supervisor.recycle(1 - slot)
  const drop = await held
  await supervisor.stop()
  t.same(events.all('worker.crash'), [])

  const client = [
    { v: 1, t: drop.startedAt - 1, event: 'client.start', connections: 1 }, drop,
    { v: 1, t: Date.now(), event: 'client.end', requests: 1, dropped: 1, sockets: 1 }
  ]
  const { report, series } = await readReport([path.join(t.testdir({ 'run.ndjson': ndjson([...client, ...events.lines]) }), 'run.ndjson')])
  t.equal(report.verdict.text, '1 dropped of 1 request over 2 recycles; the supervisor cut 1')
  t.match(report.drops, [{ recycle: 1, slot, oldPid, pid: recycled.pid, phase: 'drain', joinedBy: 'port', path: '/hold' }])
  t.match(report.recycleEvents[0], { cuts: [{ method: 'GET', path: '/hold', remotePort: drop.localPort }], dropped: 1 })
  t.same(report.disagreements, [])
  t.same(report.byReason, { requested: 2 })
  t.same(series.memory.map(({ slot }) => slot), [0, 1])
})

/** The client's record of an unanswered request. @param {number} port */
function hold (port) {
  const startedAt = Date.now()
  return new Promise(resolve => {
    let localPort = null
    const request = http.get({ port, host: '127.0.0.1', path: '/hold', agent: false })
    request.on('socket', socket => socket.once('connect', () => { localPort = socket.localPort }))
    request.on('error', () => resolve({ v: 1, t: Date.now(), event: 'client.drop', startedAt, error: 'closed-before-response', status: null, method: 'GET', path: '/hold', localPort, reused: false }))
  })
}
