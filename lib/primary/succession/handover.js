'use strict'

/**
 * The predecessor's side of a succession: starts the successor, lends it the listening sockets, and has this fleet's
 * workers leave when the other one's accept. The steps, and what a death at each of them leads to, are in
 * lib/core/succession.js.
 */

const fs = require('node:fs')
const { RecycleError } = require('../../core/errors')
const { VERSION, MOVES, LONGEST_LEGACY, FROM_SUCCESSOR } = require('../../tables/primary-message')
const { PREDECESSOR, next } = require('../../core/succession')
const { SUCCESSION: { reason, events, whyNot } } = require('../../features')
const { Part } = require('../part')
const { Peer } = require('./peer')
const { SuccessorProcess } = require('./primary-process')
const { aboutThisProcess, programOnDisk } = require('./program')
/** @import { Handle } from '../../core/internals' */
/** @import { JournalLine } from '../../lines' */

const HELLO_MS = 30_000
const PATIENCE = 4 // times its --ready-timeout: it may try a worker three times
const SERVE_MS = 10_000
const ABORT_MS = 2000
const REAP_MS = 10_000

/**
 * @typedef {Peer<SuccessorProcess>} Successor
 * @typedef {{ addresses: string[], workers: { slot: number, pid: number }[] }} Serving
 */

/**
 * Emits `progress` ({ done, of }), `handed-over`, `resumed` if the successor has died since, `left` at the end, and
 * `to-stop` if the fleet must stop.
 * @extends {Part<{ legacy: import('../legacy').Legacy, ledger: import('../handoff/ledger').HandoffLedger,
 *   departure: import('../succession/departure').Departure }>}
 */
class Handover extends Part {
  /** @type {import('../../core/succession').PredecessorState} */
  #state = 'running'
  /** @type {Successor | null} */
  #successor = null
  /** @type {Promise<JournalLine<'fleet.left'>> | null} */
  #underWay = null
  /** Resolves when it is decided which primary runs the fleet. */
  #decided = Promise.resolve()
  /** This primary has been told to stop. */
  #isClosed = false
  /** The successor has been told to stop: this fleet ends with it. */
  #endsWithIt = false
  /** @type {{ address: string, handle: Handle | null } | null} */
  #adminSocket = null

  /** Another primary has been started, or runs the fleet. */
  get isUnderWay () {
    return this.#state !== 'running'
  }

  /** This fleet's workers leave, and another primary's serve. */
  get isLeaving () {
    return this.#state === 'leaving'
  }

  /** The other primary has been told to run the fleet: what is by its name may be that one's. */
  get isHandingOver () {
    return ['handing-over', 'leaving', 'left'].includes(this.#state)
  }

  /** The other primary runs the fleet, and nothing is left of this one's. */
  get hasLeft () {
    return this.#state === 'left'
  }

  /**
   * @param {{ node?: string }} how `node`: the file of another Node.js
   * @returns {Promise<JournalLine<'fleet.left'>>} when the old workers are gone; another call joins it
   * @throws {RecycleError} RECYCLE_NOT_UPGRADED: the fleet is as before; RECYCLE_UPGRADED, RECYCLE_STOPPED
   */
  async begin (how = {}) {
    if (!this.isLeaving) this.tenure.throwIfOver()
    if (!this.isLeaving && this.#isClosed) throw new RecycleError('RECYCLE_STOPPED')
    if (this.fleet.rollout.trial) {
      throw new RecycleError('RECYCLE_NOT_UPGRADED', { why: 'a reload has new code on trial' })
    }
    if (!this.tenure.isSole) {
      throw new RecycleError('RECYCLE_NOT_UPGRADED', { why: `the ${reason} before has not ended yet` })
    }
    this.#underWay ??= this.#run(how).finally(() => { this.#underWay = null })
    return this.#underWay
  }

  /** A successor gets this socket, too. @param {{ address: string, handle: Handle | null } | null} socket null: none */
  lendAdmin (socket) {
    this.#adminSocket = socket
  }

  /**
   * No succession begins any more; one that can still be undone ends. Resolves when it is decided which primary runs
   * the fleet.
   * @param {string} why
   */
  async close (why) {
    this.#isClosed = true
    if (this.#state === 'starting' || this.#state === 'preparing') this.#successor?.fail(why)
    await this.#decided
    if (this.isLeaving) await this.#underWay?.catch(() => {})
  }

  /** @param {{ node?: string }} how */
  async #run ({ node }) {
    const why = whyNot(aboutThisProcess())
    if (why !== null) throw this.#failed(null, why)
    this.#step('start')
    const served = this.#replace(programOnDisk(node))
    this.#decided = served.then(() => {}, () => {})
    const { successor, serving } = await served
    return this.#leave(successor, serving)
  }

  /**
   * @param {import('./program').Program} program
   * @returns {Promise<{ successor: Successor, serving: Serving }>} when another primary serves
   */
  async #replace (program) {
    this.#successor = null
    try {
      if (!fs.existsSync(program.cwd)) throw new Error(`the folder ${program.cwd}, in which it was started, is gone`)
      const successor = this.#successor = new Peer(new SuccessorProcess(program), FROM_SUCCESSOR)
      successor.hear({
        booted: progress => this.emit('progress', progress),
        abort: ({ why }) => successor.fail(why),
        legacy: () => this.#bequeath(successor),
        stopping: () => {
          this.#endsWithIt = true
          if (this.isLeaving) this.#release(successor)
        }
      })
      this.record(events.begins, { pid: successor.process.pid, node: program.node })
      const serving = await this.#handOver(successor)
      this.#step('serving')
      return { successor, serving }
    } catch (error) {
      if (this.#successor) await this.#undo(this.#successor)
      this.features.owners?.resume()
      this.#step('gone')
      const failure = this.#failed(this.#successor?.process.pid ?? null, /** @type {Error} */ (error).message)
      if (this.#endsWithIt) this.emit('to-stop')
      throw failure
    }
  }

  /** @param {Successor} successor @returns {Promise<Serving>} @throws {Error} why it does not serve */
  async #handOver (successor) {
    const hello = await successor.expect('hello', HELLO_MS)
    this.#step('hello')
    if (hello.version !== VERSION) {
      throw new Error(`recycle ${hello.recycle} cannot take over from this version; stop the fleet, and start it anew`)
    }
    successor.mayMove = hello.moves === MOVES
    successor.offerBatching()
    const lent = new Set()
    const lend = () => {
      for (const { key, handle, ...socket } of this.listeningSockets.list()) {
        if (!lent.has(key)) successor.send('socket', { of: 'workers', key, ...socket }, handle)
        lent.add(key)
      }
    }
    lend()
    for (const { socket: kept, handle } of this.listeningSockets.inherited.list()) {
      successor.send('socket', { of: 'kept', kept }, handle)
    }
    if (this.#adminSocket) {
      const { address, handle } = this.#adminSocket
      successor.send('socket', { of: 'admin', address }, handle ?? undefined)
    }
    const workers = () => this.fleet.desired === this.options.workers ? null : this.fleet.desired
    const { rollout: { latest: generation } } = this.fleet
    successor.send('begin', { addresses: this.fleet.commonAddresses(), workers: workers(), generation })
    await successor.expect('prepared', PATIENCE * hello.readyTimeoutMs)
    this.#step('prepared')
    lend() // those opened meanwhile
    const serving = successor.expect('serving', SERVE_MS)
    serving.catch(() => {}) // it may die as this is still under way
    await this.#bequeath(successor)
    this.features.owners?.lendTo(successor)
    successor.send('go', { workers: workers(), ...this.fleet.isPinned && { isPinned: true } })
    return serving
  }

  /** @param {Successor} successor */
  async #undo (successor) {
    // Then its workers have connections: those that outlive it finish them
    const hasLed = this.#state === 'handing-over'
    if (!successor.isGone) {
      if (!hasLed) successor.send('abort', { why: 'the predecessor does without it' })
      const { event } = await successor.next(['exit'], ABORT_MS)
      if (event !== 'exit') successor.other.killAll()
      await successor.next(['exit'], REAP_MS)
    }
    if (!hasLed) successor.other.killAll()
  }

  /** @param {Successor} successor @param {Serving} serving */
  async #leave (successor, { addresses, workers }) {
    const pid = /** @type {number} */ (successor.process.pid)
    Object.assign(successor, { addresses: new Set(addresses), workers: workers.length })
    if (successor.mayMove) {
      this.fleet.heirs = [successor]
      this.ledger.connectPeer(successor)
    } else if (this.options.handoff) {
      const missing = 'the new supervisor is of a release that passes connections on in another way'
      for (const key of addresses) this.record('fleet.warning', { warning: 'no-handoff', key, missing })
    }
    this.ledger.look() // for what dead workers had, perhaps
    if (this.#endsWithIt) this.#release(successor) // it was told before it served
    this.tenure.end(new RecycleError('RECYCLE_UPGRADED', { pid }))
    this.emit('handed-over')
    const departed = this.departure.run(new Map(workers.map(({ slot, pid }) => [slot, pid])), successor.mayMove)
    this.features.owners?.handOver()
    const dies = successor.next(['exit', 'failed'], Infinity)
    // Connections of a dead worker may still wait for a receiver
    const gone = departed.then(() => this.#endsWithIt ? undefined : this.ledger.settled())
    const died = await Promise.race([gone.then(() => null), dies])
    if (died === null || this.#endsWithIt) {
      await gone
      await this.#bequeath(successor)
      if (!successor.isGone) await new Promise(resolve => successor.send('left', {}, undefined, resolve))
      this.#step('left')
      successor.other.release()
      this.listeningSockets.letGo()
      const line = this.record('fleet.left', { pid })
      this.emit('left')
      return line
    }
    this.fleet.heirs = []
    this.features.owners?.resume()
    this.#step('gone')
    if (!this.#isClosed) {
      this.tenure.resume()
      this.changed()
      this.emit('resumed')
      this.record('fleet.resumed', { pid: process.pid, oldPid: pid })
    }
    throw new RecycleError('RECYCLE_NOT_UPGRADED', { why: `the new primary, pid ${pid}, has exited` })
  }

  /** @param {Successor} successor */
  async #bequeath (successor) {
    if (successor.isGone) return
    const legacies = (await this.legacy.bequeath()).filter(({ text }) => text.length <= LONGEST_LEGACY)
    for (const one of legacies) successor.send('legacy', { ...one, ...one === legacies.at(-1) && { isLast: true } })
  }

  /** Closes the copies of the sockets that are here. @param {Successor} successor */
  #release (successor) {
    this.listeningSockets.letGo()
    successor.send('stopping')
  }

  /** @param {number | null} pid @param {string} why */
  #failed (pid, why) {
    this.record(events.failed, { pid, why })
    return new RecycleError('RECYCLE_NOT_UPGRADED', { why })
  }

  /** @param {string} event */
  #step (event) {
    const to = next(PREDECESSOR, this.#state, event)
    if (to === null) throw new Error(`a predecessor that is ${this.#state} has no ${event}`)
    this.#state = to
  }
}

module.exports = { Handover }
