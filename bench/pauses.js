'use strict'

/**
 * The cost of recording the pauses of the garbage collector and the lag of the event loop in a worker
 * (lib/worker/vitals/gc-pauses.js). Of two plain servers one records them. Both run side by side, and the load
 * alternates between them many times in a round. CPU time per request is compared, which other load of the machine
 * affects least.
 *
 *     npm run bench:pauses -- [--rounds 9] [--quick]
 */

const path = require('node:path')
const { load } = require('./support/load')
const { openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { usedBy } = require('./support/usage')

const APPS = { 'hello world': 'hello.js', 'garbage, 6,000 Buffers a request': 'garbage.js' }

const bench = openBench({
  name: 'pauses',
  options: { rounds: '9' }
})
const { slices, seconds, connections, warmSeconds } = bench.values.quick
  ? { slices: 1, seconds: 0.3, connections: 10, warmSeconds: 0.1 }
  : { slices: 12, seconds: 0.5, connections: 50, warmSeconds: 2 }

bench.run({
  groups: Object.entries(APPS).map(([name, app]) => ({ name, subjects: pair(app), beside: ['without'] })),
  columns: [
    { key: 'cpuUs', title: 'CPU µs/request', digits: 2, ratio: true, less: true },
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'requests', title: 'requests', total: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: [{ subject: 'with', key: 'cpuUs', ratioAtMost: 1.01 }],
  plot: { key: 'cpuUs', title: 'CPU per request beside a server that notes no pauses', ratio: true },
  note: `Both servers live through a round; the load moves from one to the other ${slices} times.`
})

/** The turn of the first subject measures both. @param {string} app */
function pair (app) {
  /** @type {Map<number, Promise<Record<string, any>>>} */
  const measured = new Map()
  const figures = (/** @type {string} */ name) => async (/** @type {{ round: number }} */ { round }) => {
    if (!measured.has(round)) measured.set(round, measure(path.join(__dirname, 'apps', app)))
    return (await measured.get(round))?.[name]
  }
  return { without: figures('without'), with: figures('with') }
}

/** @param {string} app */
async function measure (app) {
  const subjects = await Promise.all(['without', 'with'].map(async name => {
    const server = await startServer('noting-pauses.js', [app, name])
    return { name, server, cpuMs: 0, requests: 0, seconds: 0, dropped: 0 }
  }))
  for (const { server } of subjects) await load({ port: server.port, connections, seconds: warmSeconds })
  for (let slice = 0; slice < slices; slice++) {
    for (const subject of slice % 2 ? subjects : [...subjects].reverse()) {
      const before = usedBy(subject.server.pid).cpuMs
      const figures = await load({ port: subject.server.port, connections, seconds })
      subject.cpuMs += usedBy(subject.server.pid).cpuMs - before
      subject.requests += figures.requests
      subject.seconds += figures.seconds
      subject.dropped += figures.dropped
    }
  }
  for (const { server } of subjects) await server.stop()
  return Object.fromEntries(subjects.map(({ name, cpuMs, requests, seconds, dropped }) =>
    [name, { cpuUs: cpuMs * 1000 / requests, rps: requests / seconds, requests, dropped }]))
}
