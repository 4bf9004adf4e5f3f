'use strict'

/**
 * The successor's side of a succession: this process has been started by the primary of a running fleet, whose
 * listening sockets and connections it takes over. The steps are in lib/core/succession.js.
 */

const { EventEmitter } = require('node:events')
const { version } = require('../../../package.json')
const { VERSION, MOVES, FROM_PREDECESSOR } = require('../../tables/primary-message')
const { SUCCESSOR, next } = require('../../core/succession')
const { nextEvent } = require('../workers/next-event')
const { Peer } = require('./peer')
/** @import { Legacy } from '../legacy' */

const RELEASE_MS = 1000
const LEGACY_MS = 500

/**
 * Emits `begin` ({ workers, generation }) when all sockets are here, `lead` ({ workers, isPinned }) when
 * this primary is to run the fleet, `sole` when the other one has left, and `ended` (why) when nothing is taken over;
 * `inherited` and `released` at the other one's answers, and `over` when nothing more is to come from it.
 */
class Takeover extends EventEmitter {
  /** @type {import('../../core/succession').SuccessorState} */
  #state = 'booting'
  /** By what the admin server is to listen on. @type {Map<string, import('../../core/internals').Handle>} */
  #adminSockets = new Map()
  /** Where the predecessor's workers listen. @type {ReadonlySet<string>} */
  addresses = new Set()
  /** The predecessor leaves something; one of an earlier version does not. */
  #hasLegacy = false
  /** Why nothing is taken over. @type {string | null} */
  why = null

  /** @param {import('./primary-process').PredecessorProcess} process */
  constructor (process) {
    super()
    const predecessor = this.predecessor = new Peer(process, FROM_PREDECESSOR)
    this.pid = process.pid
    /** The predecessor has sent its sockets, or has ended. */
    this.begun = nextEvent(this, ['begin', 'over'], Infinity)
    predecessor.hear({
      begin: ({ addresses, ...fields }) => {
        if (!this.#step('begin')) return
        this.addresses = new Set(addresses)
        this.emit('begin', fields)
      },
      go: ({ workers, isPinned }) => this.#lead('go', workers, isPinned),
      stopping: () => this.emit('released'),
      left: () => this.#beSole('left'),
      abort: ({ why }) => this.#end('abort', why)
    })
    predecessor.on('exit', () => this.#onGone())
  }

  /** This primary runs the fleet. */
  get isLeading () {
    return this.#state === 'leading' || this.#state === 'sole'
  }

  /** And no other one is left. */
  get isSole () {
    return this.#state === 'sole'
  }

  /** @param {import('../part').Deps & { legacy: Legacy }} deps what takes what the predecessor leaves */
  greet ({ listeningSockets, legacy, options: { readyTimeoutMs } }) {
    this.predecessor.hear({
      socket: ({ of, address, kept, ...socket }, handle) => {
        if (of === 'admin' && handle) this.#adminSockets.set(address, handle)
        else if (handle && of === 'kept') listeningSockets.inherited.inherit(kept, handle)
        else if (handle) listeningSockets.inherit({ ...socket, kept }, handle)
      },
      legacy: ({ isLast, ...one }) => {
        this.#hasLegacy = true
        legacy.inherit(one)
        if (isLast) this.emit('inherited')
      }
    })
    const ours = { version: VERSION, moves: MOVES, recycle: version, node: process.version }
    this.predecessor.send('hello', { ...ours, readyTimeoutMs })
  }

  /**
   * Resolves when the predecessor has sent what it leaves once more, where there is one yet; or after half
   * a second.
   */
  async askLegacy () {
    if (!this.#hasLegacy || this.#state !== 'leading' || this.predecessor.isGone) return
    this.predecessor.send('legacy')
    await nextEvent(this, ['inherited', 'over'], LEGACY_MS)
  }

  /**
   * @param {string} address
   * @returns {import('../../core/internals').Handle | undefined} the predecessor's admin server's socket; undefined: it
   *   does not listen there
   */
  takeAdminSocket (address) {
    const handle = this.#adminSockets.get(address)
    this.#adminSockets.delete(address)
    return handle
  }

  /** @param {number} done @param {number} of */
  booted (done, of) {
    if (this.#state === 'preparing') this.predecessor.send('booted', { done, of })
  }

  /** Every worker has booted. */
  prepared () {
    if (this.#state === 'preparing' && this.#step('prepared')) this.predecessor.send('prepared')
  }

  /** @param {{ addresses: string[], workers: { slot: number, pid: number }[] }} serving its workers accept */
  serving (serving) {
    if (this.#state === 'leading') this.predecessor.send('serving', serving)
  }

  /** This primary gives up. @param {string} why */
  async fail (why) {
    if (this.#state === 'sole' || this.#state === 'ended') return
    this.#step('failed')
    await new Promise(resolve => this.predecessor.send('abort', { why: why.slice(0, 2000) }, undefined, resolve))
    this.#release()
  }

  /**
   * The fleet stops: the other primary gives its copies of the sockets up, else the last clients would wait in their
   * queues.
   */
  async stopping () {
    if (this.#state !== 'leading' || this.predecessor.isGone) return
    this.predecessor.send('stopping')
    await nextEvent(this, ['released', 'over'], RELEASE_MS)
  }

  #onGone () {
    if (this.#state === 'booting') this.#end('gone', 'the old primary has exited')
    else if (this.#state === 'leading') this.#beSole('gone')
    else this.#lead('gone', null)
  }

  /** @param {'go' | 'gone'} event @param {number | null} workers @param {boolean} [isPinned] */
  #lead (event, workers, isPinned) {
    if (!this.#step(event)) return
    this.emit('lead', { workers, isPinned })
    if (event === 'gone') this.#beSole('gone')
  }

  /** @param {'left' | 'gone'} event */
  #beSole (event) {
    if (!this.#step(event)) return
    this.#release()
    this.emit('sole', event)
  }

  /** @param {'abort' | 'gone'} event @param {string} why */
  #end (event, why) {
    if (!this.#step(event)) return
    this.why = why
    this.#release()
    this.emit('ended', why)
  }

  #release () {
    for (const handle of this.#adminSockets.values()) handle.close()
    this.#adminSockets.clear()
    this.predecessor.other.release()
    this.emit('over')
  }

  /**
   * @param {string} event
   * @returns {boolean} whether it belongs there: the death of the predecessor may come after anything
   */
  #step (event) {
    const to = next(SUCCESSOR, this.#state, event)
    if (to !== null) this.#state = to
    return to !== null
  }
}

module.exports = { Takeover }
