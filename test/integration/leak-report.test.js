'use strict'

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { app, nothingFailed } = require('../support/leak-study')
const { compareLeak } = require('../support/leaking-apps')
const { Load } = require('../support/load')

t.test('--leak-report: a study by itself when budgets replace workers soon, once; the next condemned worker names the line', async t => {
  const leaking = app(t, "a slice of a text, by a regular expression's match")
  const { port, supervisor, events } = await startFleet(t, leaking.file, { leakReport: true, maxRss: '100MiB', hardRss: '4GiB', jitter: '0', samples: 1 })
  const load = new Load({ port, connections: 8, thinkMs: 8 })
  const end = await events.until('leak.end', { where: ({ verdict }) => verdict === 'grows', timeoutMs: 90_000 })
  t.match(end, { by: 'budget' })
  t.equal(compareLeak({ outcome: end }, leaking), 'right', JSON.stringify(end))
  const begun = events.all('leak.begin').length
  const { cause } = await events.until('worker.condemn', { where: ({ t, reason }) => t > end.t && reason === 'rss', timeoutMs: 60_000 })
  t.match(cause, new RegExp(`^(receive|nameIn) ${leaking.file}:\\d+ leaks$`))
  await events.until('recycled', { where: ({ t }) => t > end.t, count: 2, timeoutMs: 60_000 })
  t.equal(events.all('leak.begin').length, begun, 'not once more')
  t.match(supervisor.status().leakStudies.latest, { by: 'budget', verdict: 'grows' })
  await nothingFailed(t, load)
})
