'use strict'

/**
 * Replaces the workers of a fleet whose clients have WebSockets, in every way, and kills workers and, at the end, the
 * primary.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../../lib/control/client')
const { seeded } = require('../../support/random')
const { FIXTURES } = require('../../support/fleet')
const { startUpgradable, kill } = require('../../support/upgrade')
const { oneOf } = require('../faults/moment')
const { MigrationClients } = require('./clients')

const WORKERS = 3
const SLACK_MS = 1000 // between a kill and what a client has of it
const AFTERWARDS_MS = 1500 // of the workers without a primary

/**
 * @typedef {object} Outcome
 * @property {number} moves
 * @property {number} kills
 * @property {number} messages
 * @property {number} closed connections that were closed as a worker was killed
 * @property {string[]} violations
 */

/**
 * @param {object} how
 * @param {number} how.moves
 * @param {number} how.seed
 * @param {number} [how.kills] of a worker, for each deed: 0 to 1
 * @param {number} [how.thinkMs] of a client between two messages, at most
 * @returns {Promise<Outcome>}
 */
async function moveWebSockets ({ moves, seed, kills = 0.3, thinkMs = 30 }) {
  const random = seeded(seed)
  /** @type {(() => unknown)[]} */
  const teardowns = []
  const t = { teardown: (/** @type {() => unknown} */ end) => teardowns.push(end), fail () {} }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rm-'))
  const socket = path.join(folder, 'control')
  const fleet = await startUpgradable(t, ['--control', socket, '--drain-timeout', '10s', path.join(FIXTURES, 'websockets.js')], { workers: WORKERS })
  const call = async (/** @type {string} */ verb, /** @type {any} */ args) => {
    const control = await connect(socket)
    return control.call(verb, args).finally(() => control.close())
  }
  const clients = new MigrationClients(fleet.port, random, thinkMs)
  /** @type {number[]} */
  const killedAt = []
  const moved = () => fleet.events.all('recycled').reduce((sum, line) => sum + line.moved, 0)
  while (moved() < moves) {
    const { verb, args } = oneOf(random, [{ verb: 'reload', args: {} }, { verb: 'recycle', args: { target: String(Math.floor(random() * WORKERS)) } }, { verb: 'upgrade', args: {} }])
    const deed = call(verb, args).catch(() => {}) // its worker may be killed
    if (random() < kills) {
      await sleep(random() * 600)
      const { workers = [] } = await call('status', {}).catch(() => ({}))
      const { pid = null } = workers.length > 0 ? oneOf(random, /** @type {any[]} */ (workers)) : {}
      killedAt.push(Date.now())
      if (pid !== null) kill(pid, 'SIGKILL')
    }
    await deed
  }
  const total = moved()
  call('reload', {}).catch(() => {})
  await sleep(random() * 400)
  const endedAt = Date.now()
  kill(fleet.primary(), 'SIGKILL')
  await sleep(AFTERWARDS_MS)
  await clients.stop()
  for (const pid of fleet.living()) kill(pid, 'SIGKILL')
  for (const end of teardowns.reverse()) await end()
  fs.rmSync(folder, { recursive: true, force: true })
  const isExcused = (/** @type {import('./clients').Exchange} */ { startedAt, t }) =>
    t >= endedAt || killedAt.some(at => at >= startedAt - SLACK_MS && at <= t + SLACK_MS)
  const violations = clients.exchanges.filter(exchange => !['answered', 'left'].includes(exchange.outcome) && !(exchange.outcome === 'closed' && isExcused(exchange)))
  return {
    moves: total,
    kills: killedAt.length,
    messages: clients.exchanges.length,
    closed: clients.exchanges.filter(({ outcome }) => outcome === 'closed').length,
    violations: violations.map(({ kind, outcome, startedAt, t }) => `${kind}: ${outcome} after ${t - startedAt} ms`)
  }
}

module.exports = { moveWebSockets }
