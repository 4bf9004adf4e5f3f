'use strict'

/** Kills workers of fleets under load, one or two at a time, at random moments of what the fleet is doing. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../../lib/control/client')
const { seeded } = require('../../support/random')
const { FIXTURES } = require('../../support/fleet')
const { startUpgradable } = require('../../support/upgrade')
const { oneOf } = require('../faults/moment')
const { KillClients } = require('./clients')
const { judge } = require('./judge')

const WORKERS = 4
const KILLS_OF_FLEET = 50
const LEAST_FLEETS = 4 // one of each variant
const LEAST_SERVING = 2 // of which one or two are killed
const COVERED_MS = 500 // until the connections of a fleet are covered
const LONGEST_MS = 60_000 // that a verb may take
// Longer than any request, also where the workers that could take its connection are killed meanwhile
const DRAIN_TIMEOUT = '30s'
const FAR_MS = 300 // between two kills, at most
const VARIANTS = {
  spawned: [],
  forked: ['--fork', 'mold'],
  sticky: ['--sticky', 'cookie:sid'],
  standby: ['--standby', '1']
}
/** What a fleet does meanwhile. @type {{ verb: string, args: (random: () => number) => any, not?: string }[]} */
const DEEDS = [
  { verb: 'reload', args: () => ({}) },
  { verb: 'recycle', args: random => ({ target: String(Math.floor(random() * WORKERS)) }) },
  { verb: 'scale', args: random => ({ workers: WORKERS + Math.round(random()) }) },
  { verb: 'upgrade', args: () => ({}) }
]

/**
 * @typedef {object} Outcome
 * @property {number} kills
 * @property {number} requests
 * @property {Record<string, number>} costs what the kills have cost that they may cost: '<kind>: <outcome>' and how
 *   often
 * @property {Record<string, number>} ends of connections whose worker has died, by the journal: moved, replayed,
 *   answered, cut
 * @property {string[]} violations requests that failed and may not, and what else is wrong
 */

/**
 * @param {object} how
 * @param {number} how.kills
 * @param {number} how.seed
 * @param {string[]} [how.variants]
 * @param {number} [how.thinkMs] of a client between two requests, at most
 * @param {(variant: string, outcome: Outcome) => void} [how.onFleet]
 * @param {string} [how.evidence] a folder for the logs and the failed requests of fleets in which a rule was broken
 * @returns {Promise<Outcome>}
 */
async function killWorkers ({ kills, seed, variants = Object.keys(VARIANTS), thinkMs = 40, onFleet = () => {}, evidence = '' }) {
  const random = seeded(seed)
  /** @type {Outcome} */
  const sum = { kills: 0, requests: 0, costs: {}, ends: {}, violations: [] }
  for (let i = 0; sum.kills < kills; i++) {
    const variant = variants[i % variants.length]
    const outcome = await ofFleet(variant, {
      kills: Math.min(KILLS_OF_FLEET, Math.ceil(kills / LEAST_FLEETS), kills - sum.kills), random, thinkMs, evidence
    })
    onFleet(variant, outcome)
    sum.kills += outcome.kills
    sum.requests += outcome.requests
    sum.violations.push(...outcome.violations.map(what => `${variant}: ${what}`))
    for (const key of /** @type {const} */ (['costs', 'ends'])) for (const [name, count] of Object.entries(outcome[key])) sum[key][name] = (sum[key][name] ?? 0) + count
  }
  return sum
}

/**
 * @param {string} variant @param {{ kills: number, random: () => number, thinkMs: number, evidence: string }} how
 * @returns {Promise<Outcome>}
 */
async function ofFleet (variant, { kills, random, thinkMs, evidence }) {
  /** @type {(() => unknown)[]} */
  const teardowns = []
  const t = { teardown: (/** @type {() => unknown} */ end) => teardowns.push(end), fail () {} }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rk-'))
  const socket = path.join(folder, 'control')
  const fleet = await startUpgradable(t, ['--control', socket, '--drain-timeout', DRAIN_TIMEOUT, ...VARIANTS[/** @type {keyof typeof VARIANTS} */ (variant)], path.join(FIXTURES, 'answers.js')], { workers: WORKERS })
  /** @type {string[]} */
  const stalled = []
  const call = async (/** @type {string} */ verb, /** @type {any} */ args) => {
    const control = await connect(socket)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stalled.push(`${verb} has not ended within ${LONGEST_MS} ms`)
        reject(new Error(stalled.at(-1)))
      }, LONGEST_MS)
      control.call(verb, args).then(resolve, reject).finally(() => clearTimeout(timer))
    }).finally(() => control.close())
  }
  const clients = new KillClients(fleet.port, random, variant === 'sticky', thinkMs)
  await sleep(COVERED_MS)
  let deaths = 0
  /** @type {Promise<unknown> | null} */
  let deed = null
  while (deaths < kills && stalled.length === 0) {
    if (deed === null && random() < 0.4) {
      const { verb, args } = oneOf(random, variant === 'forked' ? DEEDS.slice(0, 3) : DEEDS)
      // It may fail, as its workers are killed
      deed = call(verb, args(random)).catch(() => {}).finally(() => { deed = null })
    }
    await sleep(random() ** 2 * FAR_MS)
    // There is none as a primary gives way to the next
    const { workers = [] } = await call('status', {}).catch(() => ({}))
    if (workers.filter((/** @type {any} */ { state }) => state === 'ready').length < LEAST_SERVING) continue
    for (let n = random() < 0.2 ? 2 : 1; n > 0; n--) {
      const { pid } = oneOf(random, /** @type {any[]} */ (workers))
      if (pid !== null && kill(pid)) deaths++
    }
  }
  await Promise.all([clients.stop(), deed]) // a deed waits for requests that take seconds, of which others would follow
  const hasFailed = fleet.events.all('fleet.warning').filter(({ warning }) => warning === 'primary-failed')
  const crashes = fleet.events.all('worker.crash')
  process.kill(fleet.primary(), 'SIGTERM')
  const areGone = await fleet.areGone()
  for (const end of teardowns.reverse()) await end()
  fs.rmSync(folder, { recursive: true, force: true })
  const { costs, violations } = judge(clients.exchanges, crashes)
  if (!areGone) violations.push(`processes are left: ${fleet.living()}`)
  violations.push(...stalled)
  for (const { what, why } of hasFailed) violations.push(`the primary has failed: ${what}: ${why}`)
  if (evidence && violations.length > 0) {
    fs.mkdirSync(evidence, { recursive: true })
    fs.writeFileSync(path.join(evidence, `kills-${Date.now()}.json`), JSON.stringify({ variant, violations, exchanges: clients.exchanges.filter(({ outcome }) => outcome !== 'answered'), log: fleet.events.lines }, null, 1))
  }
  /** @type {Record<string, number>} */
  const ends = {}
  for (const crash of crashes) for (const name of ['moved', 'replayed', 'answered', 'cut']) ends[name] = (ends[name] ?? 0) + (crash[name] ?? 0)
  return { kills: deaths, requests: clients.exchanges.length, costs, ends, violations }
}

/** @param {number} pid */
function kill (pid) {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false // it has exited
  }
}

module.exports = { killWorkers, VARIANTS }
