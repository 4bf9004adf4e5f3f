'use strict'

/**
 * One worker as the primary sees it: what it is, what it last said, and the few things that can be done to it. What a
 * worker is on its own side is lib/worker/.
 */

const { EventEmitter } = require('node:events')
const { message, dispatcher } = require('../core/message')
const { transition } = require('../core/state')
const { openWindow, pushSample } = require('../core/window')

/** @type {import('../core/message').Beat} */
const NO_BEAT = { requests: 0, inFlight: 0, connections: 0, elu: 0, debugged: false, ceiling: null }

/**
 * Emits `ready`, `exit` ({ code, signal }), `drained` (account), `message` (the app's own) and every message of ours that
 * the worker sends, by its type.
 */
class Handle extends EventEmitter {
  /** @type {import('../core/state').State} */
  state = 'spawning'
  /** The beat that came last. */
  latest = NO_BEAT
  spawnedAt = Date.now()
  /** @type {number | null} */
  readyAt = null
  /** When anything was last heard. */
  heardAt = Date.now()
  window = openWindow(0)
  /** Why it is to go; set once. @type {import('../core/verdict').Reason | 'scale' | 'stop' | null} */
  reason = null
  condemnedAt = 0
  /** @type {import('../core/sample').Sample['wish']} */
  wish = null
  /** The addresses it listens on. @type {Set<string>} */
  addresses = new Set()
  /** The addresses it has asked for; there may be more than one `listen()` before the first is answered. @type {Set<string>} */
  asked = new Set()
  /** @type {import('../core/sample').Sample | null} */
  sample = null
  /** Its preload has run: it holds signals off, and takes orders. */
  hasEntered = false
  /** What it said when it had drained. @type {import('../core/account').Account | null} */
  account = null
  /** @type {{ code: number | null, signal: string | null } | null} */
  left = null

  /**
   * @param {number} slot
   * @param {import('node:cluster').Worker} worker
   * @param {{ generation: number, budget: import('../core/budget').Budget, mustListenOn: ReadonlySet<string>, readyOn: string }} terms
   */
  constructor (slot, worker, terms) {
    super()
    this.setMaxListeners(0)
    this.slot = slot
    this.worker = worker
    this.pid = /** @type {number} */ (worker.process.pid)
    this.terms = terms
    this.budget = terms.budget
    this.generation = terms.generation
    this.#listen()
  }

  get isServing () {
    return this.state === 'ready'
  }

  get isGone () {
    return this.left !== null
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @param {any} [socket] a TCP or pipe handle
   * @param {(error: Error | null) => void} [sent]
   */
  send (type, fields, socket, sent = () => {}) {
    this.worker.process.send(message(type, fields), socket, undefined, sent)
  }

  /** @param {import('../core/state').State} state */
  become (state) {
    this.state = transition(this.state, state)
  }

  /** @param {import('../core/sample').Sample} sample */
  observe (sample) {
    this.sample = sample
    this.window = pushSample(this.window, sample, this.budget.samples)
  }

  /** It will not listen there. @param {string} key */
  renounce (key) {
    this.asked.delete(key)
    if (this.addresses.size > 0) this.#checkReady('listening')
  }

  /** @param {NodeJS.Signals} signal */
  kill (signal) {
    if (!this.isGone) this.worker.process.kill(signal)
  }

  /**
   * Resolves at the first of these events, at once where it has been, or when the time is up.
   *
   * @param {string[]} events
   * @param {number} timeoutMs
   * @returns {Promise<{ event: string | 'timeout', value?: any }>}
   */
  next (events, timeoutMs) {
    if (this.account && events.includes('drained')) return Promise.resolve({ event: 'drained', value: this.account })
    if (this.isGone && events.includes('exit')) return Promise.resolve({ event: 'exit', value: this.left })
    return new Promise(resolve => {
      const settle = (/** @type {string} */ event, /** @type {any} */ value) => {
        clearTimeout(deadline)
        for (const [name, listener] of listeners) this.removeListener(name, listener)
        resolve({ event, value })
      }
      const deadline = setTimeout(() => settle('timeout', undefined), timeoutMs)
      const listeners = events.map(name => /** @type {const} */ ([name, (/** @type {any} */ value) => settle(name, value)]))
      for (const [name, listener] of listeners) this.once(name, listener)
    })
  }

  #listen () {
    const { worker } = this
    const forward = (/** @type {string} */ type) => (/** @type {any} */ fields, /** @type {any} */ socket) => {
      this.heardAt = Date.now()
      this.emit(type, fields, socket)
    }
    worker.process.on('internalMessage', dispatcher({
      hello: () => { this.hasEntered = true },
      listen: (fields) => {
        this.asked.add(fields.key)
        this.emit('listen', fields)
      },
      listening: ({ key, missing }) => {
        this.addresses.add(key)
        if (missing) this.emit('missing', { key, missing })
        this.#checkReady('listening')
      },
      unlisten: fields => {
        this.addresses.delete(fields.key)
        this.emit('unlisten', fields)
        this.renounce(fields.key)
      },
      beat: beat => {
        this.heardAt = Date.now()
        this.latest = beat
      },
      wish: forward('wish'),
      full: forward('full'),
      room: forward('room'),
      shut: forward('shut'),
      offer: forward('offer'),
      adopted: forward('adopted'),
      refused: forward('refused'),
      drained: ({ account }) => {
        this.account = account
        this.emit('drained', account)
      }
    }))
    worker.on('online', () => this.#checkReady('online'))
    worker.process.on('message', received => {
      if (received === 'ready') this.#checkReady('message')
      this.emit('message', received)
    })
    worker.process.on('error', () => {}) // a send to a worker that has just died; its exit follows
    worker.on('disconnect', () => this.emit('disconnect'))
    worker.on('exit', (code, signal) => {
      this.left = { code, signal }
      this.emit('exit', this.left)
    })
  }

  /** @param {string} cause */
  #checkReady (cause) {
    if (this.state !== 'spawning' || cause !== this.terms.readyOn) return
    if (cause === 'listening' && ![...this.terms.mustListenOn, ...this.asked].every(key => this.addresses.has(key))) return
    this.become('ready')
    this.readyAt = Date.now()
    this.heardAt = this.readyAt
    this.window = openWindow(this.readyAt)
    this.emit('ready')
  }
}

module.exports = { Handle }
