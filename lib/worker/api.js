'use strict'

/**
 * The functions behind `require('recycle-supervisor/worker')`. The app may load another copy of this package than the
 * one that supervises it, so the functions are registered on `process` under a global symbol.
 *
 * @typedef {typeof import('./index')} Functions
 * @typedef {Partial<Functions> & Pick<Functions, 'requestRecycle' | 'pause' | 'resume' | 'pin' | 'replayable'
 *   | 'onDrain' | 'onServe' | 'webSockets' | 'socketIO'> & { loaded: (version: string) => void }} Api the others are
 *   those of features; `loaded`: a copy of this package by the app
 */

const { version } = require('../../package.json')
const { LONGEST_WISH } = require('../core/envelope')
const { callApp, tellApp } = require('./call-app')
/** @import { Channel } from './channel' */

const kApi = Symbol.for('recycle-supervisor.worker')

/** A listener for many functions: above ten, Node warns the app of a leak. */
function listenerOfAll () {
  /** @type {((about: unknown) => void)[]} */
  let fns = []
  return {
    listener: (/** @type {unknown} */ about) => { for (const fn of fns) fn(about) },
    begin: () => { fns = [] },
    add: (/** @type {(about: unknown) => void} */ fn) => { fns.push(fn) }
  }
}

/**
 * @param {import('./connections/tracker').ConnectionTracker} tracker
 * @param {readonly string[]} ofFeatures the functions that features have, of which calls are kept until extend()
 * @returns {{ connect: (channel: Channel) => void, assign: (slot: number) => void, onDrain: Api['onDrain'],
 *   alone: (about: { deadlineMs: number, handoff: boolean }) => void, drained: () => Promise<unknown>,
 *   extend: (more: Partial<Api>) => void }} `assign`: this worker is called into its slot: RECYCLE_SLOT is set, and
 *   `recycle:serve` is emitted; `alone`: a drain that has begun goes on without siblings; `drained`: settles when what
 *   the app does in onDrain() is done
 */
function offerApi (tracker, ofFeatures) {
  /** @type {Channel | null} */
  let channel = null
  /** @type {number | null} */
  let assigned = null
  /** Versions of the app's own copies of this package that are not ours. @type {Set<string>} */
  const others = new Set()
  /** The app's work in onDrain(). @type {Promise<unknown>[]} */
  const draining = []
  /** Called when a drain that has begun goes on without siblings. @type {((about: unknown) => unknown)[]} */
  const alone = []
  /** Of functions of features, until their parts are there. @type {{ name: string, args: unknown[] }[]} */
  const early = []
  const listeners = { 'recycle:drain': listenerOfAll(), 'recycle:serve': listenerOfAll() }
  const hear = (/** @type {keyof typeof listeners} */ event, /** @type {(about: any) => void} */ fn) => {
    const { listener, begin, add } = listeners[event]
    if (!process.listeners(/** @type {any} */ (event)).includes(listener)) {
      begin()
      process.once(event, listener)
    }
    add(fn)
  }
  /** @type {Api} */
  const api = {
    ...Object.fromEntries(ofFeatures.map(name =>
      [name, (/** @type {unknown[]} */ ...args) => { early.push({ name, args }) }])),
    loaded: copy => {
      if (copy === version || others.has(copy)) return
      others.add(copy)
      channel?.send('tell', { of: 'copy', version: copy })
    },
    requestRecycle: reason =>
      channel?.send('requested', { reason: typeof reason === 'string' ? reason.slice(0, LONGEST_WISH) : undefined }),
    pause: reason =>
      channel?.send('pause', { reason: typeof reason === 'string' ? reason.slice(0, LONGEST_WISH) : undefined }),
    resume: () => channel?.send('pause', { isOver: true }),
    pin: socket => tracker.pin(socket),
    replayable: response => {
      const exchange = tracker.of(response?.req?.socket)?.exchanges.find(exchange => exchange.response === response)
      if (exchange) exchange.isMarked = true
    },
    onDrain: fn =>
      hear('recycle:drain', about => { draining.push(Promise.resolve(callApp('onDrain', () => fn(about)))) }),
    webSockets: (server, how = {}) => require('./websockets/web-sockets').moveWebSockets(server, how, current),
    socketIO: (io, how = {}) => require('./websockets/socket-io').moveSocketIo(io, how, current),
    onServe: fn => {
      const serve = (/** @type {{ slot: number }} */ about) => { callApp('onServe', () => fn(about)) }
      if (assigned === null) hear('recycle:serve', serve)
      else process.nextTick(serve, { slot: assigned })
    }
  }
  Object.defineProperty(process, kApi, { value: api })
  /** As of the call: features may come later. */
  const current = {
    movable: (/** @type {Parameters<NonNullable<Api['movable']>>} */ ...args) => api.movable?.(...args),
    onMoved: (/** @type {Parameters<NonNullable<Api['onMoved']>>} */ ...args) => api.onMoved?.(...args),
    onDrain: api.onDrain,
    onAlone: (/** @type {(about: any) => unknown} */ fn) => { alone.push(fn) },
    /** Said of a connection. @type {import('./websockets/restart-close').Said} */
    said: {
      stays: (socket, why) => {
        const connection = tracker.of(socket)
        if (connection) connection.stays = why
      },
      restarted: (socket, isLast) => {
        const connection = tracker.of(socket)
        if (connection) connection.restartedFor ??= isLast ? 'stop' : connection.stays
      },
      heard: (socket, messages) => {
        const connection = messages > 0 && tracker.of(socket)
        if (connection) tracker.requests.heard(connection, messages)
      }
    }
  }
  return {
    connect (connected) {
      channel = connected
      for (const version of others) channel.send('tell', { of: 'copy', version }) // of before a fork(2)
    },
    onDrain: api.onDrain,
    extend (more) {
      Object.assign(api, more)
      for (const call of early.splice(0)) /** @type {any} */ (api)[call.name](...call.args)
    },
    alone (about) {
      for (const fn of alone) draining.push(Promise.resolve(callApp('onDrain', () => fn(about))))
    },
    drained: () => Promise.allSettled(draining),
    assign (slot) {
      assigned = slot
      process.env.RECYCLE_SLOT = String(slot)
      tellApp('recycle:serve', { slot })
    }
  }
}

/** @returns {Api | undefined} undefined outside a fleet */
const findApi = () => /** @type {any} */(process)[kApi]

module.exports = { offerApi, findApi }
