'use strict'

/** A short campaign with a fixed seed. `npm run campaign` runs as long as it is told; see docs/contributing.md. */

const t = require('tap')
const { lacking } = require('../support/program')
const { campaign } = require('./run')

const SECONDS = 5 // and as long as the fault takes that is under way then
const SEED = 33

t.setTimeout(120_000)
lacking('g++') // by which the clock is shifted

t.test('faults under load at random moments cost no request beyond those that they kill, and break no invariant', async t => {
  const { tries, requests, refused, skipped } =
    await campaign({ seconds: SECONDS, seed: SEED, where: ({ isSlow }) => !isSlow })
  for (const { fault, variant, survived, beyond, violations } of tries) {
    t.same(violations, [], `${fault} (${variant})`)
    t.ok(survived && beyond === 0, `${fault} is survived`)
  }
  for (const { fault, why } of skipped) t.skip(`${fault}: ${why}`)
  t.same(refused, [], 'the model of the fleet accepts the journal')
  t.ok(requests > 100, `${requests} requests, ${tries.length} faults`)
})
