'use strict'

const t = require('tap')
const { Figures } = require('../../lib/tools/report/figures')
const { startAdmin } = require('../support/admin')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const ROUTES = ['/', '/about', '/cart', '/contact', '/help', '/login', '/news', '/orders', '/prices', '/search']

t.test('of ten routes, the one that leaks is named; no request is dropped', async t => {
  // A small young generation is collected often, so that there are many samples soon.
  const { port, ask, supervisor, events } = await startAdmin(t, 'leaky-route.js', { memoryByRoute: true, nodeOption: ['--max-semi-space-size=1'] })
  t.match(supervisor.status().memoryByRoute, { lack: 'few-samples', routes: [] })
  const load = new Load({ port, path: ROUTES, connections: 20, thinkMs: 30 })
  // How soon there is evidence depends on the machine
  const line = await events.until('fleet.leak', { timeoutMs: 60_000 })
  const { failures, requests } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.match(line, { route: 'GET /orders' })
  t.ok(line.low > 0 && line.low <= 200 * 1024 && line.high >= 200 * 1024, JSON.stringify(line))
  t.equal(events.all('fleet.leak').length, 1)
  const { text, routes } = supervisor.status().memoryByRoute
  t.match(text, /^GET \/orders keeps about \d+(\.\d)? KiB of each request$/)
  t.same(routes.filter((/** @type {any} */ { leaks }) => leaks).map((/** @type {any} */ { route }) => route), ['GET /orders'])
  t.same(routes.map((/** @type {any} */ { route }) => route).filter((/** @type {string} */ route) => route !== 'other').sort(), ROUTES.map(path => `GET ${path}`))

  const { body } = await ask('/metrics')
  t.match(body, /^recycle_leaking_route_bytes_per_request\{route="GET \/orders"\} \d/m)
  t.equal(body.match(/^recycle_leaking_route/gm)?.length, 1, 'no other route is listed')

  const figures = new Figures()
  for (const line of events.lines) figures.add(line)
  t.match(figures.summary().memoryByRoute, { lack: null, text: /^GET \/orders keeps/ }, 'the journal alone gives the same')
})

for (const framework of ['express', 'fastify']) {
  t.test(`a route has the name that ${framework} gave it`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'apps/named-routes.js', { memoryByRoute: true, args: [framework] })
    for (const name of ['anna', 'ben', 'carl', 'dora']) t.match(await get(port, `/api/people/${name}`), { status: 200 })
    t.match(await get(port, '/nowhere'), { status: 404 })
    for (const slot of [0, 1]) await supervisor.gc(slot)
    const lines = await Promise.all([0, 1].map(slot => events.until('worker.memory', { where: line => line.slot === slot && line.markSweeps > 0 })))
    const sum = (/** @type {string} */ route) => lines.reduce((sum, { requests }) => sum + (requests[route] ?? 0), 0)
    t.same(new Set(lines.flatMap(({ requests }) => Object.keys(requests))), new Set(['other', 'GET /api/people/:name']))
    t.equal(sum('GET /api/people/:name'), 4)
    t.equal(sum('other'), 1)
  })
}

t.test('without the option workers report nothing of it', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js')
  await get(port)
  await supervisor.gc(0)
  await events.until('worker.sample', { count: events.all('worker.sample').length + 6 })
  t.same(events.all('worker.memory'), [])
  t.equal(supervisor.status().memoryByRoute, null)
})
