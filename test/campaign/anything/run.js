'use strict'

/**
 * Kills any process of a fleet (SIGKILL) under load, one after the other: the primary, workers that serve, boot, stand
 * by or leave, the mold, and what the app has started. A primary is started again as by a service manager.
 */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { BIN, FIXTURES, freePort } = require('../../support/fleet')
const { get } = require('../../support/client')
const { Load } = require('../../support/load')
const { becomesTrue, processes } = require('../../support/processes')
const { seeded } = require('../../support/random')
const { MigrationClients } = require('../migration/clients')

const CLIENTS = 40
const KILLS_OF_FLEET = 25
const LEAST_SERVING = 2 // of which one is killed
const PRIMARIES = 0.2 // of the kills
const FAR_MS = 1200 // between two kills, at most
const AGAIN_MS = 300
const COSTS_MS = 3000 // from the kill of a worker to what it has cost
const LONGEST_MS = 60_000
const VARIABLE = 'RECYCLE_CAMPAIGN'
const VARIANTS = /** @type {Record<string, string[]>} */ ({
  spawned: ['--standby', '1'],
  revived: ['--revive'],
  forked: ['--fork', 'mold'],
  sticky: ['--sticky', 'ip'],
  lines: ['--output', 'lines']
})

/**
 * @typedef {object} Outcome of one fleet
 * @property {string} variant
 * @property {Record<string, number>} kills by what was killed
 * @property {number} requests
 * @property {number} messages of WebSockets
 * @property {number} closed WebSockets, with a worker that was killed
 * @property {number} young requests on connections of their own, with a worker that was killed
 * @property {number} unsupervised requests that a worker has taken along which was killed while no primary had it
 * @property {number} anew sockets that keep-alive clients opened beyond those
 * @property {string[]} violations
 */

/**
 * @param {{ kills: number, seed: number, evidence?: string, onFleet?: (outcome: Outcome) => void }} how
 * @returns {Promise<Outcome[]>}
 */
async function killAnything ({ kills, seed, evidence = '', onFleet = () => {} }) {
  const random = seeded(seed)
  const outcomes = []
  for (let done = 0; done < kills; done += KILLS_OF_FLEET) {
    const variants = Object.keys(VARIANTS)
    const variant = variants[outcomes.length % variants.length]
    const outcome = await ofFleet(variant, Math.min(KILLS_OF_FLEET, kills - done), random, evidence)
    onFleet(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

/** @param {string} variant @param {number} kills @param {() => number} random @param {string} evidence a folder */
async function ofFleet (variant, kills, random, evidence) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ra-'))
  const journal = path.join(folder, 'journal.ndjson')
  const port = await freePort()
  const args = [BIN, '-w', '3', '--control', path.join(folder, 'control'), '--journal', journal, '--kill-timeout', '1s', ...VARIANTS[variant], path.join(FIXTURES, 'anything.js')]
  const start = () => spawn(process.execPath, args, { env: { ...process.env, PORT: String(port), [VARIABLE]: folder }, stdio: 'ignore', detached: true })
  const lines = () => fs.existsSync(journal)
    ? fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1).filter(Boolean).map(line => JSON.parse(line))
    : []
  const members = () =>
    processes().filter(({ pid, state }) => state !== 'Z' && valueOf(pid) === folder).map(({ pid }) => pid)
  const kindOf = (/** @type {number} */ pid) => {
    const all = lines()
    if (all.some(line => line.event === 'fleet.start' && line.pid === pid)) return 'primary'
    const last = all.findLast(line => line.pid === pid && /^worker\.(spawn|ready|standby|drain)$/.test(line.event))
    if (last) return `worker, ${/** @type {any} */ ({ spawn: 'boots', ready: 'serves', standby: 'stands by', drain: 'leaves' })[last.event.slice(7)]}`
    return commandOf(pid).startsWith('sleep') ? 'child of the app' : 'mold, or what boots'
  }
  const isReady = () => {
    const all = lines()
    const from = all.findLastIndex(({ event }) => event === 'fleet.start')
    return all.slice(from).some(({ event }) => event === 'fleet.ready')
  }
  /** @type {Outcome} */
  const outcome = {
    variant, kills: {}, requests: 0, messages: 0, closed: 0, young: 0, unsupervised: 0, anew: 0, violations: []
  }
  /** From the kill of a primary until another one has the workers. @type {{ from: number, to: number }[]} */
  const gaps = []
  /** @type {number[]} */
  const ofWorkers = []
  start()
  if (!await becomesTrue(isReady, LONGEST_MS)) throw new Error(`${variant}: the fleet does not start`)
  const kept = new Load({ port, connections: CLIENTS, thinkMs: 160 })
  const each = new Load({ port, connections: 1, keepAlive: false, thinkMs: 20 })
  const clients = new MigrationClients(port, random, 100)
  await sleep(500)
  for (let done = 0; done < kills; done++) {
    const primary = lines().findLast(({ event }) => event === 'fleet.start').pid
    const all = members()
    const pid = random() < PRIMARIES && all.includes(primary) ? primary : all[Math.floor(random() * all.length)]
    const kind = kindOf(pid)
    const serving = () => members().filter(pid => kindOf(pid) === 'worker, serves')
    if (kind === 'worker, serves' && serving().length < LEAST_SERVING) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      continue // it has exited
    }
    const t = Date.now()
    outcome.kills[kind] = (outcome.kills[kind] ?? 0) + 1
    if (kind.startsWith('worker')) ofWorkers.push(t)
    if (kind === 'primary') {
      const gap = { from: t, to: Infinity }
      gaps.push(gap)
      if (variant !== 'revived') setTimeout(start, random() * AGAIN_MS)
      const started = () => lines().filter(({ event }) => event === 'fleet.start').length
      const before = started()
      const supervised = becomesTrue(() => started() > before && isReady(), LONGEST_MS)
      if (random() < 0.3) { // a worker as well, meanwhile
        const workers = serving()
        if (workers.length >= LEAST_SERVING) process.kill(workers[0], 'SIGKILL')
        ofWorkers.push(Date.now())
      }
      if (!await supervised) {
        outcome.violations.push(`at ${t}: no primary has the fleet within ${LONGEST_MS} ms`)
        break
      }
      gap.to = Date.now()
    }
    await sleep(random() ** 2 * FAR_MS)
  }
  await becomesTrue(isReady, LONGEST_MS)
  const [keeping, single] = await Promise.all([kept.stop(), each.stop()])
  await clients.stop()
  const isOfWorker = (/** @type {number} */ t) => ofWorkers.some(at => t >= at && t <= at + COSTS_MS)
  const isUnsupervised = (/** @type {number} */ t) =>
    isOfWorker(t) && gaps.some(({ from, to }) => t >= from - COSTS_MS && t <= to + COSTS_MS)
  outcome.requests = keeping.requests + single.requests
  outcome.messages = clients.exchanges.length
  outcome.young = single.failures.filter(({ t }) => isOfWorker(t)).length
  outcome.unsupervised = keeping.failures.filter(({ t }) => isUnsupervised(t)).length
  outcome.anew = keeping.sockets - CLIENTS - outcome.unsupervised
  outcome.closed = clients.exchanges.filter(({ outcome, t }) => outcome === 'closed' && isOfWorker(t)).length
  outcome.violations.push(
    ...keeping.failures.filter(({ t }) => !isUnsupervised(t)).map(({ error, t, afterMs }) => `a request: ${error} after ${afterMs} ms, at ${t}`),
    ...single.failures.filter(({ t }) => !isOfWorker(t)).map(({ error, t, afterMs }) => `a request of its own connection: ${error} after ${afterMs} ms, at ${t}`),
    ...clients.exchanges.filter(({ outcome, t }) => !['answered', 'left'].includes(outcome) && !(outcome === 'closed' && isOfWorker(t))).map(({ kind, outcome, t }) => `a WebSocket, ${kind}: ${outcome}, at ${t}`)
  )
  const { status } = await get(port)
  if (status !== 200) outcome.violations.push(`at the end it answers ${status}`)
  process.kill(lines().findLast(({ event }) => event === 'fleet.start').pid, 'SIGTERM')
  const isGone = await becomesTrue(() => members().every(pid => commandOf(pid).startsWith('sleep')), LONGEST_MS)
  if (!isGone) outcome.violations.push(`processes are left: ${members().map(pid => `${pid} ${commandOf(pid)}`).join('; ')}`)
  for (const pid of members()) process.kill(pid, 'SIGKILL')
  if (evidence && outcome.violations.length > 0) fs.copyFileSync(journal, path.join(evidence, `anything-${variant}-${Date.now()}.ndjson`))
  fs.rmSync(folder, { recursive: true, force: true })
  return outcome
}

/** @param {number} pid @returns {string | null} of VARIABLE in its environment */
function valueOf (pid) {
  try {
    return new RegExp(`(?:^|\\0)${VARIABLE}=([^\\0]*)`).exec(fs.readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1] ?? null
  } catch {
    return null // it has exited, or is another user's
  }
}

/** @param {number} pid */
function commandOf (pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

module.exports = { killAnything }
