'use strict'

/**
 * A fleet whose primary a drill kills: a process of its own, `recycle <app>`, which the drill starts again each time,
 * as a service manager does. The next primary adopts the workers. The fleet writes the run file as its journal.
 */

const { spawn } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../control/client')
const { RecycleError, badUsage } = require('../../core/errors')
const { wordsOf } = require('../../tables/options')
const { RemoteFleet } = require('./remote')

const RECYCLE = path.join(__dirname, '..', '..', '..', 'bin', 'recycle.js')
const LOOK_MS = 20
const ANSWERS_WITHIN_MS = 30_000

/** Emits `event` with every line of the fleet's journal, and `stopped`, with why, when a primary exits by itself. */
class RestartedFleet extends EventEmitter {
  #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-drill-'))
  #args
  /** @type {import('node:child_process').ChildProcess | null} the primary */
  #child = null
  /** @type {RemoteFleet | null} as of the last connection to it */
  #remote = null
  #isStopping = false
  /** A kill of the primary is under way. @type {Promise<unknown> | null} */
  #kill = null
  /** @type {Record<string, unknown> | null} */
  #lastStatus = null

  /**
   * @param {string} app @param {string[]} args @param {Record<string, unknown>} given the supervisor's options, by name
   * @param {string} journal @param {Record<string, unknown> | null} [config] values of a config file
   */
  constructor (app, args, given, journal, config = null) {
    super()
    const file = config && path.join(this.#folder, 'recycle.config.json')
    if (file) fs.writeFileSync(file, JSON.stringify(config))
    this.#args = [
      RECYCLE, ...wordsOf(given), `--config=${file ?? 'none'}`, `--control=${this.#socket}`, `--journal=${journal}`,
      '--', app, ...args
    ]
    this.#start()
  }

  get #socket () {
    return path.join(this.#folder, 'control')
  }

  #start () {
    const child = spawn(process.execPath, this.#args, { stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('exit', () => {
      if (this.#child !== child || this.#isStopping) return
      this.emit('stopped',
        new RecycleError('RECYCLE_FLEET_GONE', { name: path.basename(this.#args[this.#args.indexOf('--') + 1]) }))
    })
    this.#child = child
    return child
  }

  /** Follows the primary, from its first line on. @throws {RecycleError} it has exited, or does not answer */
  async #connect () {
    const child = /** @type {import('node:child_process').ChildProcess} */ (this.#child)
    const until = performance.now() + ANSWERS_WITHIN_MS
    for (; isRunning(child) && performance.now() < until; await sleep(LOOK_MS)) {
      const client = await connect(this.#socket).catch(() => null)
      if (client === null) continue
      const status = await client.call('status')
      this.#remote = new RemoteFleet(client, this.#socket, status, { isFromStart: true })
      this.#remote.on('event', line => this.emit('event', line))
      return
    }
    throw badUsage('the fleet does not start')
  }

  /** @throws {RecycleError} */
  async ready () {
    await this.#connect()
    for (; !this.#isStopping; await sleep(LOOK_MS)) {
      const { totals } = await this.status()
      if (totals.ready >= totals.workers) return
    }
  }

  /** As `recycle status --json`; after the stop, as of its beginning. */
  async status () {
    return this.#lastStatus ?? /** @type {RemoteFleet} */ (this.#remote).status()
  }

  /** @param {number} slot */
  recycle (slot) {
    return /** @type {RemoteFleet} */ (this.#remote).recycle(slot)
  }

  /** @param {number} pid of a worker */
  kill (pid) {
    process.kill(pid, 'SIGKILL')
  }

  /**
   * Kills the primary, and starts the next one at once.
   * @returns {Promise<number>} ms until that has adopted the workers; it has replaced them, too
   * @throws {RecycleError} it has not, and they have been told to leave
   */
  async killPrimary () {
    const { workers } = await this.status()
    const kill = this.#killAndStart()
    this.#kill = kill.catch(() => {
      for (const { pid } of workers) {
        try {
          process.kill(pid, 'SIGTERM')
        } catch {} // it has ended
      }
    })
    return kill
  }

  async #killAndStart () {
    const child = /** @type {import('node:child_process').ChildProcess} */ (this.#child)
    this.#child = null
    this.#remote?.stop()
    const killedAt = performance.now()
    child.kill('SIGKILL')
    await once(child, 'exit')
    /** @type {Promise<number>} */
    const tookMs = new Promise(resolve => {
      let left = Infinity
      let adoptedAt = killedAt
      const hear = (/** @type {import('../../lines').JournalLine} */ line) => {
        if (line.event === 'fleet.adopted') {
          left = line.workers.length
          adoptedAt = performance.now()
        }
        if (line.event === 'recycled' && line.reason === 'adopted') left--
        if (left > 0) return
        this.off('event', hear)
        resolve(adoptedAt - killedAt)
      }
      this.on('event', hear)
    })
    const next = this.#start()
    await this.#connect()
    const late = sleep(ANSWERS_WITHIN_MS, null, { ref: false })
    const took = await Promise.race([tookMs, late])
    if (took !== null) return took
    throw badUsage(`supervisor ${next.pid} has not adopted and replaced the workers of ${child.pid} within ` +
      `${ANSWERS_WITHIN_MS / 1000} s`)
  }

  async stop () {
    if (this.#isStopping) return
    this.#isStopping = true
    await this.#kill
    this.#lastStatus = await this.#remote?.status().catch(() => null) ?? null
    const child = this.#child
    if (child && isRunning(child)) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    this.#remote?.stop()
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** @param {import('node:child_process').ChildProcess} child */
const isRunning = ({ exitCode, signalCode }) => exitCode === null && signalCode === null

module.exports = { RestartedFleet }
