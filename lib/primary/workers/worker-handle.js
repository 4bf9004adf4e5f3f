'use strict'

/**
 * A worker as the primary sees it: what it is, and what it last said. How messages pass is worker-channel.js; the
 * worker's own side is lib/worker/.
 */

const { MOST_REQUESTS } = require('../../core/envelope')
const { withLongest } = require('../../core/gc-pauses')
const { transition } = require('../../core/state')
const { NO_BEAT } = require('../../tables/figures')
const { now } = require('../clock')
const { Condemnation } = require('./condemnation')
const { isConnected } = require('./open-sockets')
const { Readiness } = require('./readiness')
const { WorkerChannel } = require('./worker-channel')
/** @import { Handle } from '../../core/internals' */
/** @import { State } from '../../core/state' */
/** @import { Figures } from '../measuring/figures' */
/** @import { FromPrimary } from '../../messages' */

/** Events of a worker. */
const EVENTS = Object.freeze({
  foreign: 'it is of that other version of recycle',
  entered: '{ heapLimitBytes }: its preload has run',
  address: 'it wants to listen there; a function that takes the answer',
  listens: '{ key }',
  missing: '{ key, missing }: why connections of that address cannot move',
  closes: '{ key }',
  booted: 'it is ready but for a gate; see features',
  waived: 'addresses on which it was given time to listen, and does not',
  up: 'it may be called',
  standby: 'it stands by',
  ready: 'it has been called, and serves',
  returned: 'it is in rotation again',
  leaving: 'it drains',
  hurried: 'its drain has a shorter deadline',
  emptied: 'its account: nothing is left in it',
  disconnect: 'its channel has closed',
  exit: 'Left',
  message: "the app's own",
  flaw: '{ type, flaw }: what is wrong with a message',
  failed: '{ type, error }: what the primary lacks for that message'
})

class WorkerHandle extends WorkerChannel {
  /** @type {State} */
  state = 'spawning'
  /**
   * The beat that came last; with the longest pauses since a sample was recorded.
   * @type {import('../../tables/message').Beat}
   */
  latest = NO_BEAT
  /** The last beat is in a sample. */
  isSampled = true
  /** Connections that have come and gone by hand-off since that beat, which counts them otherwise. */
  #shifted = 0
  /** When it was spawned: ms, by clock.js, as every other time here. */
  spawnedAt = now()
  /** Since when it serves, or stands by; null: it boots. @type {number | null} */
  upSince = null
  /** When the worker had booted: it may be called. @type {number | null} */
  bootedAt = null
  /** When the worker was called to serve. @type {number | null} */
  calledAt = null
  /** The worker was up before it was wanted: as a standby, or while another primary ran the fleet. */
  stoodBy = false
  condemnation = new Condemnation()
  /** Figures of its memory and CPU; null: it has not been up yet. @type {Figures | null} */
  figures = null
  /** Until when it may drain; null: it does not. @type {number | null} */
  drainsUntil = null
  /** Why it was not waited for any longer when it booted. @type {string | null} */
  givenUp = null
  /** The file that it runs. */
  app = ''
  /**
   * The worker is out of the rotation, by its app or a feature; recycling/rotation.js says when. `emptied` resolves
   * when nothing is left in it, or it has been called back.
   * @type {{ since: number, why: string, emptied: Promise<void> } | null}
   */
  out = null
  /** The addresses it listens on. @type {Set<string>} */
  addresses = new Set()
  /**
   * Addresses that it has asked for (listen() may be called again before the answer), and how long it was up then, ms;
   * 0: not yet.
   * @type {Map<string, number>}
   */
  asked = new Map()
  /** The app has closed all its servers, and may open them again. */
  hasClosed = false
  /** The ports that it has asked for, whatever became of that. @type {Set<number | null>} */
  tried = new Set()
  /** Notes of features on it, by their names: plain data. @type {Record<string, any>} */
  known = {}
  /** In flight in it, latest first, as far as it has told. @type {import('../../core/crashes').InFlight[]} */
  requests = []
  /** The exception that its app has thrown before it served. @type {string | null} */
  exception = null
  /**
   * The latest address that it was refused: `errno` is libuv's.
   * @type {{ address: string | null, port: number, errno: number } | null}
   */
  refused = null
  /** The message that its app has sent in place of 'ready'. @type {unknown} */
  said = undefined
  /**
   * The outcome of its connections, where it has died with some; null: it lives.
   * @type {Promise<import('../../core/account').Outcome | null> | null}
   */
  outcome = null
  /**
   * The connection whose request blocks its event loop, by the serial of its copy; see
   * lib/worker/connections/parcel.js.
   * @type {number | null}
   */
  blockedBy = null
  /** Where its inspector is open; null: none is. @type {number | null} */
  inspectorPort = null
  /** The worker's preload has run: it holds signals off, and takes commands. */
  hasEntered = false

  /**
   * @param {number | null} slot null: a standby, which has none yet @param {import('./process').WorkerProcess} process
   * @param {{ id: string, generation: number, budget: import('../../tables/budget').Budget, required:
   *   import('./required-addresses').Required, readyOn: string, gates?: string[], variant?: import('./spawner').Variant
   *   | null, isAdopted?: boolean, awaitsDebugger?: boolean }} terms `gates`: features that must let it pass before it
   *   is ready; `variant`: what it has in place of an ordinary one; `isAdopted`: it has served under a primary that has
   *   died; `awaitsDebugger`: it runs nothing before a debugger is attached
   */
  constructor (slot, process, terms) {
    super(process, EVENTS)
    this.slot = slot
    /** In the environment of the processes that it starts. */
    this.id = terms.id
    this.terms = terms
    this.budget = terms.budget
    this.generation = terms.generation
    this.readiness = new Readiness(this, terms)
    this.#listen()
  }

  get isAdopted () {
    return this.terms.isAdopted === true
  }

  get reason () {
    return this.condemnation.reason
  }

  /** The latest. */
  get sample () {
    return this.figures?.sample ?? null
  }

  get isServing () {
    return this.state === 'ready'
  }

  /** The worker is measured and judged: it serves, or waits to. */
  get isWatched () {
    return this.isServing || this.state === 'standby'
  }

  /**
   * Whether a debugger may hold it: one is attached, or Node.js waits for one before it runs anything, the preload
   * neither. An inspector that is merely open holds nothing.
   * @returns {Promise<boolean>}
   */
  async isDebugged () {
    if (!this.hasEntered) return this.terms.awaitsDebugger === true
    return this.inspectorPort !== null && isConnected(Number(this.pid), this.inspectorPort)
  }

  /** The worker's event loop has turned since its app began to load. */
  get hasLoaded () {
    return this.latest !== NO_BEAT
  }

  /** How many connections it has, as far as is known: by its last beat, and what was handed over since. */
  get connections () {
    return Math.max(0, this.latest.connections + this.#shifted)
  }

  /** How long it took to boot. @returns {number | null} ms */
  get bootMs () {
    return this.bootedAt && this.bootedAt - this.spawnedAt
  }

  /**
   * How long it took to get up: from its spawning, or from its call where it stood by.
   * @returns {number | null} ms; null: it is not up, or was before it was adopted
   */
  get readyMs () {
    return this.isAdopted ? null : this.upSince && this.upSince - ((this.stoodBy && this.calledAt) || this.spawnedAt)
  }

  /** A connection is its own from here on, or again. */
  gains () {
    this.#shifted++
  }

  /** The worker offers one. */
  offers () {
    this.#shifted--
  }

  /** @param {State} state */
  become (state) {
    this.state = transition(this.state, state)
    if (state === 'draining') this.emit('leaving')
  }

  /** The worker will not listen there. @param {string} key */
  renounce (key) {
    this.asked.delete(key)
    if (this.addresses.size > 0) this.readiness.check('listening')
  }

  /** The worker lacks nothing: it may be called. */
  finishBoot () {
    this.bootedAt = now()
    this.emit('up')
  }

  /** The worker is up, and waits until it is called. */
  standBy () {
    this.stoodBy = true
    this.#comeUp('standby')
  }

  /** Calls a worker that is up into a slot; it is `ready` when it accepts. @param {number} slot */
  serve (slot) {
    this.slot = slot
    this.calledAt = now()
    this.call('serve', { slot }, Infinity)
      .then(({ why }) => { if (why === null && ['spawning', 'standby'].includes(this.state)) this.#comeUp('ready') })
  }

  #listen () {
    this.hear({
      hello: fields => {
        this.hasEntered = true
        this.inspectorPort = fields.inspectorPort
        this.emit('entered', fields)
        this.offerBatching()
      },
      listen: ({ id, ...fields }) => {
        this.tried.add(fields.query.port)
        if (!this.asked.has(fields.key)) this.asked.set(fields.key, this.upSince === null ? 0 : now() - this.upSince)
        /** @param {Omit<FromPrimary['answer'], 'id'>} answer @param {Handle} [socket] */
        const reply = (answer, socket) => this.answer({ id, ...answer }, socket)
        this.emit('address', fields, reply)
      },
      listening: ({ key, missing, isClosed }) => {
        if (isClosed) return this.#closes(key)
        if (!this.asked.has(key)) return this.refuse({ type: 'listening' }, 'it has not asked for this address')
        this.addresses.add(key)
        this.hasClosed = false
        this.emit('listens', { key })
        if (missing) this.emit('missing', { key, missing })
        this.readiness.check('listening')
      },
      beat: beat => {
        this.latest = this.isSampled ? beat : withLongest(beat, this.latest)
        this.isSampled = false
        this.inspectorPort = beat.inspectorPort
        this.#shifted = 0
      },
      'in-flight': ({ requests, isAll }) => {
        const names = new Set(requests.map((/** @type {{ request: string }} */ { request }) => request))
        this.requests = isAll
          ? requests
          : [...requests, ...this.requests.filter(({ request }) => !names.has(request))].slice(0, MOST_REQUESTS)
      },
      exception: ({ error }) => { this.exception = error },
      drained: ({ account }) => {
        if (this.state !== 'draining') return this.refuse({ type: 'drained' }, 'it has not been told to leave')
        this.account = account
        this.emit('emptied', account)
      }
    })
    this.on('flaw', () => this.condemnation.request('protocol-error'))
    this.process.on('online', () => this.readiness.check('online'))
    this.process.on('app-message', received => {
      if (received === 'ready') this.readiness.check('message')
      else if (this.bootedAt === null) this.said = received
      this.emit('message', received)
    })
  }

  /** @param {string} key */
  #closes (key) {
    this.addresses.delete(key)
    this.renounce(key)
    this.hasClosed = this.asked.size === 0
    this.emit('closes', { key })
  }

  /** @param {'standby' | 'ready'} state */
  #comeUp (state) {
    this.become(state)
    this.upSince = this.heardAt = now()
    this.emit(state)
  }
}

module.exports = { WorkerHandle }
