'use strict'

/** Kills primaries (SIGKILL) under load, at rest and while their workers are replaced, and workers in between. */

const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../../lib/control/client')
const { BIN, FIXTURES, freePort } = require('../../support/fleet')
const { Load } = require('../../support/load')
const { seeded } = require('../../support/random')
const { lackingSystemd, startSystemd } = require('../../support/systemd')
const { MigrationClients } = require('../migration/clients')

const WORKERS = 3
const CLIENTS = 40
const THINK_MS = 160 // at most: 500 requests a second
const KILLS_OF_FLEET = 5
const AGAIN_MS = 300 // until the service manager, or a shell, starts the next one
const LONGEST_MS = 60_000
const LEAVES_MS = 3000 // of WebSockets, with a worker that is killed
const YOUNG_MS = 200 // a connection for a request that is killed with its worker was not known to the primary yet
const LEAVES = ['worker.drain', 'worker.retire', 'worker.crash']
const VARIANTS = /** @type {Record<string, string[]>} */ ({
  spawned: [], revived: ['--revive'], forked: ['--fork', 'mold'], sticky: ['--sticky', 'ip'], systemd: []
})
/** What of a unit of `recycle unit` a user's systemd may not do here. */
const OF_ROOT = /^(?:User|RuntimeDirectory|RuntimeDirectoryMode|LimitNOFILE|NoNewPrivileges|Environment=RECYCLE_CONTROL_DIR)=.*\n/gm

/**
 * @typedef {object} Outcome of one fleet
 * @property {string} variant
 * @property {number} kills of primaries
 * @property {number} workers killed
 * @property {number} requests
 * @property {number[]} supervisedMs from each kill until another primary has adopted the workers
 * @property {number} anew connections that keep-alive clients opened anew
 * @property {number} messages of WebSockets
 * @property {number} closed WebSockets, with workers that were killed
 * @property {number} young requests of connections of their own, with workers that were killed
 * @property {string[]} violations requests that failed, connections that closed, and what else is wrong
 */

/**
 * @param {{ kills: number, seed: number, reloads?: number, workers?: number, only?: string, evidence?: string,
 *   onFleet?: (outcome: Outcome) => void }} how `reloads`: of the kills, 0 to 1, how many are in a reload; `workers`
 *   killed for each; `only` this variant
 * @returns {Promise<Outcome[]>}
 */
async function killPrimaries ({ kills, seed, reloads = 0.3, workers = 0, only = '', evidence = '', onFleet = () => {} }) {
  const random = seeded(seed)
  const outcomes = []
  const variants = only ? [only] : variantsHere()
  for (let done = 0; done < kills; done += KILLS_OF_FLEET) {
    const variant = variants[outcomes.length % variants.length]
    const some = Math.min(KILLS_OF_FLEET, kills - done)
    const outcome = await ofFleet(variant, some, { random, reloads, workers, evidence })
    onFleet(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

/**
 * @param {string} variant @param {number} kills
 * @param {{ random: () => number, reloads: number, workers: number, evidence: string }} how `evidence`: a folder for
 *   the journals of fleets in which something is wrong
 * @returns {Promise<Outcome>}
 */
async function ofFleet (variant, kills, { random, reloads, workers, evidence }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rp-'))
  const [socket, journal] = ['control', 'journal.ndjson'].map(name => path.join(folder, name))
  const port = await freePort()
  const args = ['-w', String(WORKERS), '--control', socket, '--journal', journal, '--drain-timeout', '10s', ...VARIANTS[variant], path.join(FIXTURES, 'websockets.js')]
  const { start, kill, stop } = variant === 'systemd'
    ? await underSystemd(args, port)
    : ofShell(args, port)
  const lines = () => fs.existsSync(journal)
    ? fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1).filter(Boolean).map(line => JSON.parse(line))
    : []
  const primary = () => lines().filter(({ event }) => event === 'fleet.start').at(-1)?.pid
  /** @param {(line: Record<string, any>) => boolean} is @param {number} [count] */
  const until = async (is, count = 1) => {
    for (const deadline = Date.now() + LONGEST_MS; ; await sleep(50)) {
      const found = lines().filter(is)
      if (found.length >= count) return found[count - 1]
      if (Date.now() > deadline) throw new Error(`within ${LONGEST_MS} ms: ${lines().slice(-10).map(({ event }) => event).join(', ')}`)
    }
  }
  /** @type {Outcome} */
  const outcome = {
    variant,
    kills: 0,
    workers: 0,
    requests: 0,
    supervisedMs: [],
    anew: 0,
    messages: 0,
    closed: 0,
    young: 0,
    violations: []
  }
  /** @type {number[]} */
  const ofWorkers = []
  const killWorker = async () => {
    const all = lines()
    const gone = new Set(all.filter(({ event }) => LEAVES.includes(event)).map(({ pid }) => pid))
    const serving = all.filter(({ event, pid }) => event === 'worker.ready' && !gone.has(pid))
    const { pid, slot } = serving[Math.floor(random() * serving.length)]
    const killedAt = Date.now()
    await kill(pid)
    ofWorkers.push(killedAt)
    outcome.workers++
    await until(({ event, t, ...line }) => event === 'worker.ready' && line.slot === slot && t >= killedAt)
    await sleep(random() * 1000)
  }
  await start()
  await until(({ event }) => event === 'fleet.ready')
  const loads = [
    new Load({ port, connections: CLIENTS, thinkMs: THINK_MS }),
    new Load({ port, connections: 1, keepAlive: false, thinkMs: 20 })
  ]
  const clients = new MigrationClients(port, random, 100)
  await sleep(1000)
  for (const began = Date.now(); outcome.kills < kills;) {
    for (let i = 0; i < workers; i++) await killWorker()
    const pid = primary()
    const isInReload = random() < reloads
    if (isInReload) connect(socket).then(control => control.call('reload', {})).catch(() => {}) // its primary is killed
    await sleep(random() * 1000)
    const killedAt = Date.now()
    await kill(pid)
    outcome.kills++
    if (variant !== 'revived' && variant !== 'systemd') {
      await sleep(random() * AGAIN_MS)
      start()
    }
    try {
      const { workers, t } = await until(({ event, t }) => event === 'fleet.adopted' && t >= killedAt)
      outcome.supervisedMs.push(t - killedAt)
      // One beyond the slots, which a reload was replacing, is scaled away
      const isOver = (/** @type {Record<string, any>} */ { event, reason, t }) =>
        t >= killedAt && (event === 'scaled' || (event === 'recycled' && reason === 'adopted'))
      await until(isOver, workers.length)
    } catch (error) {
      outcome.violations.push(`after ${killedAt - began} ms: ${/** @type {Error} */ (error).message}`)
      break
    }
  }
  const [kept, each] = await Promise.all(loads.map(load => load.stop()))
  await clients.stop()
  outcome.requests = kept.requests + each.requests
  outcome.anew = kept.anew.length
  outcome.messages = clients.exchanges.length
  const isExcused = (/** @type {import('../migration/clients').Exchange} */ { outcome, t }) =>
    outcome === 'closed' && ofWorkers.some(at => t >= at && t <= at + LEAVES_MS)
  const isYoung = (/** @type {{ t: number }} */ { t }) => ofWorkers.some(at => t >= at && t <= at + YOUNG_MS)
  outcome.young = each.failures.filter(isYoung).length
  outcome.closed = clients.exchanges.filter(isExcused).length
  outcome.violations.push(
    ...[...kept.failures, ...each.failures.filter(failure => !isYoung(failure))].map(({ error, t, afterMs }) => `a request: ${error} after ${afterMs} ms, at ${t}`),
    ...kept.anew.map(({ t, why }) => `a connection was opened anew at ${t}: ${why}`),
    ...clients.exchanges.filter(exchange => !['answered', 'left'].includes(exchange.outcome) && !isExcused(exchange)).map(({ kind, outcome }) => `a WebSocket, ${kind}: ${outcome}`)
  )
  const stopping = stop(primary())
  await until(({ event }) => event === 'fleet.stop').catch(error => outcome.violations.push(`the stop: ${error.message}`))
  await stopping
  if (evidence && outcome.violations.length > 0) fs.copyFileSync(journal, path.join(evidence, `primaries-${variant}-${Date.now()}.ndjson`))
  fs.rmSync(folder, { recursive: true, force: true })
  return outcome
}

/** Variants that can run on this machine. */
const variantsHere = () => Object.keys(VARIANTS).filter(variant => variant !== 'systemd' || !lackingSystemd())

/** @param {string[]} args of recycle @param {number} port */
function ofShell (args, port) {
  return {
    start: () => spawn(process.execPath, [BIN, ...args], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore', detached: true }),
    kill: (/** @type {number} */ pid) => process.kill(pid, 'SIGKILL'),
    stop: (/** @type {number} */ pid) => process.kill(pid, 'SIGTERM')
  }
}

/**
 * By the unit that `recycle unit` prints, without a socket unit: the port is the fleet's own.
 *
 * @param {string[]} args of recycle @param {number} port
 */
async function underSystemd (args, port) {
  const { PORT, ...env } = process.env
  const text = execFileSync(process.execPath, [BIN, 'unit', '--name', 'shop', ...args], { env, encoding: 'latin1' })
  const unit = text.replace(/^#.*\n/gm, '').replace(OF_ROOT, '').replace('[Unit]', '[Unit]\nStartLimitIntervalSec=0').replace('[Service]', `[Service]\nEnvironment=PORT=${port}`)
  /** @type {(() => unknown)[]} */
  const teardowns = []
  const run = await startSystemd({ teardown: (/** @type {() => unknown} */ end) => teardowns.push(end) }, { 'shop.service': unit })
  return {
    start: () => run('systemctl', '--user', 'start', 'shop.service'),
    kill: (/** @type {number} */ pid) => run('kill', '-s', 'KILL', String(pid)),
    async stop () {
      await run('systemctl', '--user', 'stop', 'shop.service')
      for (const end of teardowns) await end()
    }
  }
}

module.exports = { killPrimaries, variantsHere }
