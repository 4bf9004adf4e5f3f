'use strict'

/**
 * Tells the service manager (systemd) what the fleet does: sd_notify(3). Node has no datagram sockets of the unix kind:
 * the addon sends each message, which takes no process, so that a full pids limit does not silence the watchdog.
 * Without the addon `systemd-notify` does, which is there wherever systemd is: its message comes from a child of this
 * process, and the unit needs NotifyAccess=all.
 *
 * The watchdog is told by a timer of this event loop: when the loop is stuck, so is the timer.
 */

const { spawn } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { sayCrashing } = require('../../core/crashes')
const { count } = require('../../core/units')
const { loadAddon } = require('../../native/addon')
const { ServiceState } = require('./state')
/** @import { JournalLine } from '../../lines' */
/** @import { Addon } from '../../native/addon' */

const PROGRAM = 'systemd-notify'
const STATUS_MS = 1000 // no more often than that
const FULL_MS = 100 // between two attempts while the service manager's queue is full
const MOST_ATTEMPTS = 20
const ORPHANED_MS = 250 // between two looks at whose child this process is

/** @typedef {Record<string, string | number>} Message the assignments */

class ServiceNotifier {
  /** Messages that wait for the one that is being sent. @type {Message[]} */
  #queue = []
  /** @type {Promise<void> | null} */
  #sending = null
  #hasFailed = false
  #onEvent = (/** @type {JournalLine} */ line) => this.#hear(line)
  #status = ''
  /** @type {NodeJS.Timeout | undefined} */
  #statusTimer
  /** @type {NodeJS.Timeout | undefined} */
  #orphanedTimer

  /**
   * @param {import('../../operate/control-verbs').Supervised} supervisor
   * @param {{ notifySocket: string, watchdogMs: number | null }} how `watchdogMs`: it must hear a sign of life that
   *   often; null: it need not
   * @param {import('./feature').Operations} by
   */
  constructor (supervisor, { notifySocket, watchdogMs }, { readiness, leads }) {
    this.supervisor = supervisor
    this.notifySocket = notifySocket
    this.readiness = readiness()
    this.state = new ServiceState(supervisor.options, leads)
    supervisor.on('event', this.#onEvent)
    if (watchdogMs !== null) this.watchdog = setInterval(() => this.#tell({ WATCHDOG: 1 }), watchdogMs / 2)
  }

  /** Another primary speaks to the service manager from now on. */
  async leave () {
    this.supervisor.removeListener('event', this.#onEvent)
    await this.close()
  }

  /** Resolves when everything has been told. */
  async close () {
    clearInterval(this.watchdog)
    clearInterval(this.#orphanedTimer)
    clearTimeout(this.#statusTimer)
    this.#statusTimer = undefined
    while (this.#sending) await this.#sending
  }

  /** @param {JournalLine} line */
  #hear (line) {
    this.readiness.hear(line)
    if (line.event === 'fleet.stopping' && !this.supervisor.isLast) return
    const isReady = () => this.readiness.verdict().isReady
    const message = this.state.hear(line, isReady, Number(process.hrtime.bigint() / 1000n))
    if (Object.keys(message).length > 0) this.#tell({ ...message, STATUS: this.#describe() })
    if (line.event === this.state.leads && 'oldPid' in line) this.#nameAgainAfter(Number(line.oldPid))
    if (line.event === 'worker.sample') return // says nothing of which workers there are
    this.#statusTimer ??= setTimeout(() => {
      this.#statusTimer = undefined
      const before = this.#status
      if (this.#describe() !== before) this.#tell({ STATUS: this.#status })
    }, STATUS_MS).unref()
  }

  /**
   * At a stop systemd waits for the main process only if that was its child when it was named; else, with
   * KillMode=mixed, it kills the workers at once. This process becomes its child when its parent, the old primary,
   * exits. It is named again then, behind one of its workers: systemd does not look again at a pid that it has.
   * @param {number} parent
   */
  #nameAgainAfter (parent) {
    this.#orphanedTimer = setInterval(() => {
      const [worker] = this.supervisor.status().workers
      if (process.ppid === parent || !worker?.pid) return
      clearInterval(this.#orphanedTimer)
      for (const pid of [worker.pid, process.pid]) this.#tell({ MAINPID: pid })
    }, ORPHANED_MS).unref()
  }

  #describe () {
    const { isStopping } = this.supervisor
    const { totals: { workers, ready, recycles }, crashing } = this.supervisor.status()
    return (this.#status = `${isStopping ? 'stopping: ' : ''}${ready} of ${count(workers, 'worker')} ready, ` +
      `${count(recycles, 'recycle')}${crashing ? `; ${sayCrashing(crashing)}` : ''}`)
  }

  /** @param {Message} message joins the one that waits, unless it tells of another state */
  #tell (message) {
    const isOfState = ['READY', 'RELOADING', 'STOPPING', 'MAINPID'].some(name => name in message)
    const last = this.#queue.at(-1)
    if (last && !isOfState) Object.assign(last, message)
    else this.#queue.push(message)
    this.#sending ??= this.#send().finally(() => { this.#sending = null })
  }

  async #send () {
    for (let message; (message = this.#queue.shift());) {
      const assignments = Object.entries(message).map(([name, value]) => `${name}=${value}`)
      const { addon } = loadAddon()
      const why = await (addon
        ? send(addon, this.notifySocket, assignments)
        : run(assignments, { ...process.env, NOTIFY_SOCKET: this.notifySocket }))
      if (why === null || this.#hasFailed) continue
      this.#hasFailed = true
      this.supervisor.announce('fleet.warning', { warning: 'notify', why })
    }
  }
}

/** @param {Addon} addon @param {string} socket @param {string[]} assignments @returns why not; null: sent */
async function send (addon, socket, assignments) {
  for (let attempts = 1; ; attempts++) {
    try {
      addon.notify(socket, assignments.join('\n'))
      return null
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
      if (code !== 'EAGAIN' || attempts === MOST_ATTEMPTS) return `${socket}: ${message}`
      await sleep(FULL_MS)
    }
  }
}

/**
 * @param {string[]} assignments @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>} why they could not be sent; null: they were
 */
function run (assignments, env) {
  return new Promise(resolve => {
    const child = spawn(PROGRAM, assignments, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', text => { said += text })
    child.once('error', error => resolve(error.message))
    child.once('close',
      (code, signal) => resolve(code === 0 ? null : said.trim() || `${PROGRAM} ended with ${signal ?? `code ${code}`}`))
  })
}

module.exports = { ServiceNotifier }
