'use strict'

const t = require('tap')
const { killPrimaries } = require('./run')

t.test('primaries are killed under load: no request fails, no client reconnects, and no WebSocket closes', async t => {
  const [outcome] = await killPrimaries({ kills: 2, seed: 3, reloads: 0 })
  t.match(outcome, { variant: 'spawned', kills: 2, anew: 0, closed: 0, violations: [] })
  t.ok(outcome.requests > 100 && outcome.messages > 50, `${outcome.requests} requests, ${outcome.messages} messages`)
})
