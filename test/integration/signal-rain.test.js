'use strict'

/** Signals and verbs in any order and at any time, under load whose bytes are compared. */

const { setTimeout: sleep } = require('node:timers/promises')
const t = require('tap')
const { Clients } = require('../campaign/clients')
const { CampaignFleet, WORKERS } = require('../campaign/fleet')
const { check } = require('../campaign/invariants')
const { extent } = require('../support/campaign')
const { seeded } = require('../support/random')

const SIGNALS = extent({ short: 40, long: 200 })
const VERBS = extent({ short: 12, long: 100 })
const SEED = Number(process.env.RECYCLE_SEED ?? 33)

t.setTimeout(180_000)

t.test('random signals to the primary, and random verbs at a time, change no byte of a response', async t => {
  const random = seeded(SEED)
  const oneOf = (/** @type {any[]} */ ...list) => list[Math.floor(random() * list.length)]
  const fleet = await CampaignFleet.start('surge')
  const clients = new Clients(fleet.port, random)
  let more = 0
  for (let i = 0; i < SIGNALS; i++) {
    const signal = oneOf('SIGHUP', 'SIGTTIN', 'SIGTTOU', 'SIGWINCH', 'SIGCONT', 'SIGURG', 'SIGCHLD')
    if (signal === 'SIGTTIN' && more++ >= 1) continue // not more workers than the machine can bear
    if (signal === 'SIGTTOU') more--
    fleet.signal(fleet.pid, signal)
    await sleep(random() * 20)
  }
  const verbs = Array.from({ length: VERBS }, () => oneOf(['recycle', { target: 'all' }], ['recycle', { target: '0' }], ['gc', { target: '1' }], ['reload', {}], ['scale', { workers: '2' }], ['scale', { workers: String(WORKERS) }], ['status', {}]))
  await Promise.all(verbs.map(([verb, args]) => fleet.call(verb, args)))
  await fleet.call('scale', { workers: String(WORKERS) })
  t.ok(await fleet.settled(), 'then all is as desired')
  await clients.stop()
  const { journal, left, code } = await fleet.end()
  t.equal(code, 0)
  t.same(check({ journal, requests: clients.requests, faults: [], processes: fleet.processes, left }).violations, [])
  t.ok(clients.requests.length > 100, `${clients.requests.length} requests`)
})
