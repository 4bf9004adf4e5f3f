'use strict'

/**
 * A drill: the app under the supervisor, load on it, recycles, and a stop under load. Every request is counted
 * (client.js), and written to the run file together with the supervisor's journal.
 *
 *     start ─▶ ready ─▶ load ─────────── duration ───────────▶ announce the stop ─▶ stop ─▶ requests in flight end
 *                         └─ recycle, or kill, again … ───┘     to every client
 *
 * When a drill resolves, its load processes and workers are gone, whatever happened. A running fleet (remote.js) is
 * neither started nor stopped.
 *
 * @typedef {import('../../primary/supervisor').Supervisor | RemoteFleet | RestartedFleet} Fleet
 */

const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { RecycleError } = require('../../core/errors')
const { handleLine } = require('../../core/journal-field')
const { openJournal } = require('../../journal/writer')
const { Audit } = require('../../journal/audit')
const { now } = require('./clock')
const { forceKills, forcePrimaryKills, forceRecycles } = require('./forced-recycles')
const { Load, Broken } = require('./load')
const { recycleEveryMs } = require('./options')
const { RemoteFleet } = require('./remote')
const { findTarget, probe, targetOf } = require('./target')
const { judge } = require('./verdict')
/** @import { RestartedFleet } from './restarted-fleet' */
/** @import { Target } from './target' */

const BEATS_TO_BE_SURE = 3

class Run {
  /** @type {import('./progress').Figures['phase']} */
  #phase = 'booting'
  /** The fleet's recycles and crashes. */
  #audit = new Audit({ mostEvents: 1 })
  /** @type {Set<string>} */
  #addresses = new Set()
  #arrived = false
  #isDeadly = false
  /** Addresses on which some workers alone listen. @type {readonly { address: string, slots: number[] }[]} */
  #uneven = []
  #kills = 0
  /** From each kill of the primary until the next one had adopted the workers, ms. @type {number[]} */
  #adoptedMs = []
  #startedAt = 0
  /** Duration of the load, until the stop. */
  #loadMs = 0
  /** Why the drill cannot go on. @type {string | null} */
  #broke = null
  /** @type {Fleet | null} */
  #fleet = null
  /** @type {Promise<void> | null} */
  #stopped = null
  /** @type {Load | null} */
  #load = null
  /** @type {Target | null} */
  #target = null

  /**
   * @param {import('./options').DrillOptions} own
   * @param {Pick<import('../../tables/options').Options, 'intervalMs' | 'maxRssBytes' | 'maxRequests' | 'maxAgeMs'>
   *   } options of the fleet
   * @param {string} file
   */
  constructor (own, options, file) {
    this.own = own
    this.options = options
    this.file = file
    this.writer = openJournal(file)
  }

  /** @param {Fleet} fleet @param {AbortSignal} signal */
  async go (fleet, signal) {
    this.#follow(fleet)
    try {
      await Promise.race([fleet.ready(), aborted(signal)])
      if (signal.aborted) {
        throw new Broken('the load never arrived: the drill was ended before every worker was ready')
      }
      const target = await this.#aim()
      if (target) await this.#drive(fleet, target, signal)
      this.#uneven = (await fleet.status()).uneven ?? []
    } catch (error) {
      if (!(error instanceof RecycleError || error instanceof Broken)) throw error
      this.#broke = error.message
    }
    await this.#stop()
    if (fleet instanceof RemoteFleet) this.#write({ event: 'journal.end', why: 'drilled' }) // the fleet runs on
    if (this.#load) {
      this.#write({
        event: 'client.end', requests: this.#load.requests, dropped: this.#load.dropped, sockets: this.#load.sockets,
        kills: this.#kills
      })
    }
  }

  figures () {
    const { requests = 0, dropped = 0, p99Ms = null } = this.#load ?? {}
    return {
      phase: this.#phase,
      elapsedMs: this.#startedAt ? now() - this.#startedAt : 0,
      durationMs: this.own.durationMs,
      requests,
      dropped,
      recycles: this.#audit.recycles,
      kills: this.#kills + this.#adoptedMs.length,
      p99Ms
    }
  }

  /** @returns {import('./').Outcome} */
  outcome () {
    const { requests = 0, dropped = 0, sockets = 0, errors = new Map(), statuses = new Map() } = this.#load ?? {}
    const { recycles, totals: { cut, unaccounted }, connectionsAtCrashes } = this.#audit
    const isCounted = this.#loadMs >= BEATS_TO_BE_SURE * this.options.intervalMs
    const url = this.#target?.url ?? null
    const isAlone = !(this.#fleet instanceof RemoteFleet)
    const verdict = judge({
      requests,
      dropped,
      recycles,
      kills: this.own.killEveryMs === null ? null : this.#kills,
      adoptedMs: this.own.killPrimaryEveryMs === null ? null : this.#adoptedMs,
      reopened: this.own.keepAlive ? Math.max(0, sockets - this.own.connections) : null,
      isAlone,
      // Of its own fleet's crashes, the clients saw the loss
      supervisor: { cut, unknown: unaccounted + (isAlone ? 0 : connectionsAtCrashes) },
      arrived: this.#arrived || (isCounted ? false : null),
      isDeadly: this.#isDeadly,
      uneven: this.#uneven,
      url: url ?? 'the app',
      errors,
      statuses,
      broke: this.#broke
    })
    const [byError, byStatus] = [Object.fromEntries(errors), Object.fromEntries(statuses)]
    return {
      ...verdict,
      requests,
      dropped,
      recycles,
      kills: this.#kills,
      primaryKills: this.#adoptedMs.length,
      sockets,
      errors: byError,
      statuses: byStatus,
      url,
      file: this.file
    }
  }

  async clear () {
    this.#load?.kill()
    await this.#fleet?.stop({ now: true })
    await this.writer.flush()
  }

  /** @param {Fleet} fleet */
  #follow (fleet) {
    const isRemote = fleet instanceof RemoteFleet
    this.#fleet = fleet
    fleet.once('stopped', failure => {
      this.#stopped ??= Promise.resolve()
      if (failure) this.#broke = failure.message
      if (isRemote) this.#broke = 'the fleet stopped before the drill was over'
    })
    fleet.on('event', line => {
      if (isRemote) this.writer.write(line)
      handleLine(this.#audit.handlers, line)
      if (line.event === 'worker.ready') for (const address of line.addresses) this.#addresses.add(address)
      if (line.event === 'worker.sample' && !isRemote && this.#phase !== 'booting' &&
        line.requests + line.connections > 0) {
        this.#arrived = true
      }
      if (line.event === 'worker.crash' && !isRemote && line.requestsInFlight.length > 0) this.#isDeadly = true
    })
  }

  /** Finds the target of the load, and checks that a server listens there. */
  async #aim () {
    const port = Number(process.env.PORT)
    this.#target = this.own.url ? targetOf(this.own.url) : findTarget(this.#addresses, port)
    if (!this.#target) {
      this.#broke = 'the load never arrived: the address of the app is not known; give it by --url, ' +
        'or let the app take its port from PORT'
      return null
    }
    const why = await probe(this.#target)
    if (why === null) return this.#target
    this.#broke = `the load never arrived: no connection to ${this.#target.url} (${why}); ` +
      'give the address of the app by --url'
    return null
  }

  /** @param {Fleet} fleet @param {Target} target @param {AbortSignal} signal */
  async #drive (fleet, target, signal) {
    const {
      connections, rate, method, path, headers, body, expect, keepAlive, timeoutMs, durationMs, loadWorkers,
      killEveryMs, killPrimaryEveryMs
    } = this.own
    const load = new Load(
      { target, connections, rate, method, path, headers, body, expect, keepAlive, timeoutMs }, loadWorkers
    )
    this.#load = load
    load.on('line', line => this.writer.write(line))
    const died = new Promise((resolve, reject) => load.once('died', how =>
      reject(new Broken(`a load process exited early (${how})`))))
    died.catch(() => {})
    await Promise.race([died, load.open()])

    this.#startedAt = now()
    this.#write({
      event: 'client.start', url: target.url, connections, isAlone: !(fleet instanceof RemoteFleet), durationMs,
      keepAlive, method, path, rate, expect, loadWorkers
    })
    this.#phase = 'load'
    load.start()
    const ending = new AbortController()
    const everyMs = recycleEveryMs(this.own, this.options)
    const recycles = everyMs === null ? null : forceRecycles(fleet, everyMs, ending.signal)
    const kills = killEveryMs === null
      ? null
      : forceKills(fleet, killEveryMs, ending.signal, () => { this.#kills++ })
    const onAdopted = (/** @type {number} */ tookMs) => { this.#adoptedMs.push(tookMs) }
    const restarts = killPrimaryEveryMs === null
      ? null
      : forcePrimaryKills(/** @type {RestartedFleet} */ (fleet), killPrimaryEveryMs, ending.signal, onAdopted)
    const lost = new Promise((resolve, reject) => restarts?.catch(reject))
    const elapsed = sleep(durationMs, undefined, { signal: ending.signal }).catch(() => {})
    await Promise.race([died, lost, gone(fleet), elapsed, aborted(signal)]).finally(() => ending.abort())
    this.#loadMs = now() - this.#startedAt
    // The last recycle is recorded, too, and the last worker that was killed is replaced
    const ended = fleet instanceof RemoteFleet ? Promise.all([recycles, kills]) : Promise.all([kills, restarts])
    await Promise.race([died, ended, gone(fleet)])
    if (fleet instanceof RemoteFleet) {
      this.#arrived ||= await fleet.hasServed().catch(() => false)
    } else {
      this.#phase = 'stopping'
      await Promise.race([died, load.announceStop()])
      await this.#stop()
    }
    await Promise.race([died, load.end()])
  }

  #stop () {
    this.#stopped ??= /** @type {Fleet} */ (this.#fleet).stop()
    return this.#stopped
  }

  /** @param {{ event: string } & Record<string, unknown>} line */
  #write (line) {
    this.writer.write({ v: 1, t: now(), ...line })
  }
}

/** Resolves when the fleet has ended by itself. @param {Fleet} fleet */
const gone = fleet => once(fleet, 'stopped')

/** @param {AbortSignal} signal */
const aborted = async signal => signal.aborted || once(signal, 'abort')

module.exports = { Run }
