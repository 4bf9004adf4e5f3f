'use strict'

/** Runs a campaign: fleet after fleet, each under load and with some faults, and each judged when it has ended. */

const { setTimeout: sleep } = require('node:timers/promises')
const { seeded } = require('../support/campaign')
const { trace } = require('../support/trace')
const { Clients } = require('./clients')
const { KINDS, oneOf } = require('./faults')
const { CampaignFleet, VARIANTS, WORKERS } = require('./fleet')
const { check, readLines } = require('./invariants')

const TRIES_A_FLEET = 8
const FAR_MS = 500 // between two faults

/**
 * @typedef {{ fault: string, variant: string, from: number, to: number, survived: boolean, killed: number, beyond: number, violations: import('./invariants').Violation[] }} Try
 *   `killed`: requests that the fault itself has ended; `beyond`: others that failed
 * @typedef {{ tries: Try[], requests: number, refused: string[] }} Outcome `refused`: steps that the model of the fleet does not do
 */

/**
 * @param {object} how
 * @param {number} how.seconds a fleet whose time has begun ends as it should
 * @param {number} how.seed
 * @param {(kind: import('./faults').Kind) => boolean} [how.where]
 * @param {(made: Try) => void} [how.onTry]
 * @returns {Promise<Outcome>}
 */
async function campaign ({ seconds, seed, where = () => true, onTry = () => {} }) {
  const random = seeded(seed)
  const kinds = KINDS.filter(where)
  const until = Date.now() + seconds * 1000
  /** Those that have been done least come first. @type {Map<import('./faults').Kind, number>} */
  const done = new Map(kinds.map(kind => [kind, 0]))
  /** @type {Outcome} */
  const outcome = { tries: [], requests: 0, refused: [] }
  const names = Object.keys(VARIANTS)
  for (let i = 0; i === 0 || Date.now() < until; i++) {
    const variant = names[i % names.length]
    if (!kinds.some(({ variants }) => !variants || variants.includes(variant))) continue
    const { tries, requests, refused } = await round(variant, { random, done, until })
    outcome.tries.push(...tries)
    outcome.requests += requests
    outcome.refused.push(...refused)
    tries.forEach(onTry)
  }
  return outcome
}

/** @param {string} variant @param {{ random: () => number, done: Map<import('./faults').Kind, number>, until: number }} how @returns {Promise<Outcome>} */
async function round (variant, { random, done, until }) {
  const fleet = await CampaignFleet.start(variant)
  const clients = new Clients(fleet.port, random)
  /** @type {(Try & { fault: string })[]} */
  const tries = []
  /** @type {import('./invariants').Fault[]} */
  const faults = []
  let isFleetGone = false
  await sleep(FAR_MS)
  while (tries.length < TRIES_A_FLEET && !isFleetGone && (tries.length === 0 || Date.now() < until)) {
    const kind = pick(kinds => kinds.filter(({ variants, needs }) => (!variants || variants.includes(variant)) && (!needs || needs(fleet))), random, done)
    done.set(kind, Number(done.get(kind)) + 1)
    const from = Date.now()
    const costs = await kind.act({ fleet, random })
    isFleetGone = costs.isFleet === true
    clients.isOver ||= isFleetGone
    const hasSettled = isFleetGone || await fleet.settled()
    const to = Date.now()
    faults.push({ kind: kind.name, from, to, ...costs })
    tries.push({ fault: kind.name, variant, from, to, survived: hasSettled, killed: 0, beyond: 0, violations: [] })
    if (!hasSettled) break
    await sleep(FAR_MS)
  }
  await clients.stop()
  clients.isOver = true
  const { journal, left, code } = await fleet.end()
  const { violations, explained } = check({ journal, requests: clients.requests, faults, processes: fleet.processes, left })
  if (!isFleetGone && code !== 0) violations.push({ rule: 'exit', t: Date.now(), what: `the primary has exited with ${code}` })
  attribute(tries, violations, explained.map(fault => faults.indexOf(fault)))
  const isTraced = variant !== 'standby' && variant !== 'forked workers'
  return { tries, requests: clients.requests.length, refused: isTraced ? trace(readLines(journal).lines).refused : [] }
}

/** One of those that have been done least. @param {(kinds: import('./faults').Kind[]) => import('./faults').Kind[]} possible @param {() => number} random @param {Map<import('./faults').Kind, number>} done */
function pick (possible, random, done) {
  const kinds = possible([...done.keys()])
  const least = Math.min(...kinds.map(kind => Number(done.get(kind))))
  return oneOf(random, kinds.filter(kind => done.get(kind) === least))
}

/** Each violation belongs to the last try that had begun, and each request that a fault has ended to that fault's. @param {Try[]} tries @param {import('./invariants').Violation[]} violations @param {number[]} explained */
function attribute (tries, violations, explained) {
  for (const violation of violations) (tries.findLast(({ from }) => from <= violation.t) ?? tries[0]).violations.push(violation)
  for (const i of explained) tries[i].killed++
  for (const made of tries) {
    made.beyond = made.violations.filter(({ rule }) => rule === 'drop').length
    made.survived &&= made.violations.length === 0
  }
}

module.exports = { campaign, WORKERS }
