'use strict'

/** Runs a campaign: fleet after fleet, each under load and with some faults, and each judged when it has ended. */

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { seeded } = require('../support/random')
const { trace } = require('../support/trace')
const { Clients } = require('./clients')
const { KINDS } = require('./faults')
const { oneOf } = require('./faults/moment')
const { CampaignFleet, VARIANTS } = require('./fleet')
const { check } = require('./invariants')
const { readLines } = require('./lives')
const { PLACES } = require('./places')

const TRIES_A_FLEET = 8
const FAR_MS = 500 // between two faults
const LONGEST_MS = 90_000 // that a fault may take

/**
 * @typedef {{ fault: string, variant: string, from: number, to: number, survived: boolean, killed: number,
 *   beyond: number, violations: import('./invariants').Violation[] }} Try `killed`: requests that the fault itself has
 *   ended; `beyond`: others that failed
 * @typedef {{ tries: Try[], requests: number, refused: string[] }} Outcome `refused`: steps that the model of the fleet
 *   does not do
 * @typedef {{ fault: string, why: string }} Skipped a fault that cannot be done on this machine
 */

/**
 * @param {object} how
 * @param {number} how.seconds a fleet whose time has begun ends as it should
 * @param {number} how.seed
 * @param {(kind: import('./faults').Kind) => boolean} [how.where]
 * @param {(made: Try) => void} [how.onTry]
 * @param {string} [how.evidence] a folder for the journals and the faults of fleets in which a rule was broken, or that
 *   the model refuses
 * @returns {Promise<Outcome & { skipped: Skipped[] }>}
 */
async function campaign ({ seconds, seed, where = () => true, onTry = () => {}, evidence = '' }) {
  const random = seeded(seed)
  const asked = KINDS.filter(where)
  const missing = new Map(Object.entries(PLACES).map(([name, place]) => [name, place.missing()]))
  const skipped = asked.flatMap(({ name, place = 'ordinary' }) => { const why = missing.get(place); return why ? [{ fault: name, why }] : [] })
  const kinds = asked.filter(({ name }) => !skipped.some(({ fault }) => fault === name))
  const until = Date.now() + seconds * 1000
  /** Those that have been done least come first. @type {Map<import('./faults').Kind, number>} */
  const done = new Map(kinds.map(kind => [kind, 0]))
  /** @type {Outcome} */
  const outcome = { tries: [], requests: 0, refused: [] }
  const names = Object.keys(VARIANTS).filter(name => !missing.get(VARIANTS[name].place ?? 'ordinary'))
  for (let i = 0; i === 0 || Date.now() < until; i++) {
    const variant = names[i % names.length]
    if (!kinds.some(kind => isFor(kind, variant))) continue
    const { tries, requests, refused } = await round(variant, { random, done, until, evidence })
    outcome.tries.push(...tries)
    outcome.requests += requests
    outcome.refused.push(...refused)
    tries.forEach(onTry)
  }
  return { ...outcome, skipped }
}

/** @param {import('./faults').Kind} kind @param {string} variant */
function isFor ({ place, variants }, variant) {
  return variants?.includes(variant) ?? (place === undefined || place === VARIANTS[variant].place)
}

/**
 * @param {string} variant
 * @param {{ random: () => number, done: Map<import('./faults').Kind, number>, until: number, evidence: string }} how
 * @returns {Promise<Outcome>}
 */
async function round (variant, { random, done, until, evidence }) {
  const fleet = await CampaignFleet.start(variant)
  const clients = new Clients(fleet.port, random)
  /** @type {(Try & { fault: string })[]} */
  const tries = []
  /** @type {import('./invariants').Fault[]} */
  const faults = []
  let isFleetGone = false
  await sleep(FAR_MS)
  while (tries.length < TRIES_A_FLEET && !isFleetGone && (tries.length === 0 || Date.now() < until)) {
    const kind = pick(kinds =>
      kinds.filter(kind => isFor(kind, variant) && (!kind.needs || kind.needs(fleet))), random, done)
    done.set(kind, Number(done.get(kind)) + 1)
    const from = Date.now()
    const late = sleep(LONGEST_MS, null, { ref: false }).then(() => ({ pids: [], isFleet: false, wrong: [`it has not ended within ${LONGEST_MS} ms`] }))
    const { wrong = [], ...costs } = await Promise.race([kind.act({ fleet, random }), late])
    isFleetGone = costs.isFleet === true
    clients.isOver ||= isFleetGone
    const hasSettled = isFleetGone || await fleet.settled()
    const to = Date.now()
    faults.push({ kind: kind.name, from, to, ports: costs.pids.flatMap(pid => fleet.clients.get(pid) ?? []), ...costs })
    tries.push({ fault: kind.name, variant, from, to, survived: hasSettled, killed: 0, beyond: 0, violations: wrong.map(what => ({ rule: 'fault', t: to, what })) })
    if (!hasSettled) break
    await sleep(FAR_MS)
  }
  await clients.stop()
  clients.isOver = true
  const { journal, left, code } = await fleet.end()
  const { violations, explained } = check({
    journal, requests: clients.requests, faults, processes: fleet.processes, left
  })
  if (!isFleetGone && code !== 0) violations.push({ rule: 'exit', t: Date.now(), what: `the primary has exited with ${code}` })
  attribute(tries, violations, explained.map(fault => faults.indexOf(fault)))
  const isTraced = variant !== 'standby' && variant !== 'forked workers'
  const refused = isTraced ? refusedBy(trace, readLines(journal).lines) : []
  if (evidence && (refused.length > 0 || tries.some(({ survived }) => !survived))) {
    keep(evidence, { journal, faults, requests: clients.requests, refused })
  }
  return { tries, requests: clients.requests.length, refused }
}

/** @param {typeof trace} model @param {import('./lives').Line[]} lines @returns {string[]} */
function refusedBy (model, lines) {
  try {
    return model(lines).refused
  } catch (error) {
    return [`it cannot do what is in the journal: ${/** @type {Error} */ (error).message}`]
  }
}

/** @param {string} folder @param {{ journal: string } & Record<string, any>} evidence */
function keep (folder, { journal, ...records }) {
  fs.mkdirSync(folder, { recursive: true })
  const name = path.join(folder, String(records.faults[0].from))
  fs.writeFileSync(`${name}.ndjson`, journal)
  fs.writeFileSync(`${name}.json`, JSON.stringify(records))
}

/**
 * One of those that have been done least.
 *
 * @param {(kinds: import('./faults').Kind[]) => import('./faults').Kind[]} possible @param {() => number} random
 * @param {Map<import('./faults').Kind, number>} done
 */
function pick (possible, random, done) {
  const kinds = possible([...done.keys()])
  const least = Math.min(...kinds.map(kind => Number(done.get(kind))))
  return oneOf(random, kinds.filter(kind => done.get(kind) === least))
}

/**
 * Each violation belongs to the last try that had begun, and each request that a fault has ended to that fault's.
 *
 * @param {Try[]} tries @param {import('./invariants').Violation[]} violations @param {number[]} explained
 */
function attribute (tries, violations, explained) {
  for (const violation of violations) {
    (tries.findLast(({ from }) => from <= violation.t) ?? tries[0]).violations.push(violation)
  }
  for (const i of explained) tries[i].killed++
  for (const made of tries) {
    made.beyond = made.violations.filter(({ rule }) => rule === 'drop').length
    made.survived &&= made.violations.length === 0
  }
}

module.exports = { campaign }
