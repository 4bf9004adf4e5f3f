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

/**
 * @param {import('./connections/tracker').ConnectionTracker} tracker
 * @param {readonly string[]} ofFeatures the functions that features have, of which calls are kept until extend()
 * @returns {{ connect: (channel: Channel) => void, assign: (slot: number) => void, onDrain: Api['onDrain'],
 *   leave: (about: { reason: string, deadlineMs: number, handoff: boolean }) => void, alone: (about: { deadlineMs:
 *   number, handoff: boolean }) => void, drained: () => Promise<unknown>, extend: (more: Partial<Api>) => void }}
 *   `assign`: this worker is called into its slot: RECYCLE_SLOT is set, and `recycle:serve` is emitted; `leave`: a
 *   drain has begun, and `recycle:drain` is emitted; `alone`: it goes on without siblings; `drained`: settles when what
 *   the app does in onDrain() is done
 */
function offerApi (tracker, ofFeatures) {
  /** @type {Channel | null} */
  let channel = null
  /** @type {number | null} */
  let assigned = null
  /** Versions of the app's own copies of this package that are not ours. @type {Set<string>} */
  const others = new Set()
  /** Of onServe() and onDrain(), until they are called. @type {((about: any) => unknown)[]} */
  let onServe = []
  /** @type {((about: any) => unknown)[]} */
  let onDrain = []
  /** Called when a drain that has begun goes on without siblings. @type {((about: any) => unknown)[]} */
  const onAlone = []
  /** The app's work in onDrain(). @type {Promise<unknown>[]} */
  const draining = []
  const begin = (/** @type {(about: any) => unknown} */ fn, /** @type {object} */ about) =>
    draining.push(Promise.resolve(callApp('onDrain', () => fn(about))))
  /** Of functions of features, until their parts are there. @type {{ name: string, args: unknown[] }[]} */
  const early = []
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
    onDrain: fn => { onDrain.push(fn) },
    webSockets: (server, how = {}) => require('./websockets/web-sockets').moveWebSockets(server, how, current),
    socketIO: (io, how = {}) => require('./websockets/socket-io').moveSocketIo(io, how, current),
    onServe: fn => {
      const serve = (/** @type {{ slot: number }} */ about) => callApp('onServe', () => fn(about))
      if (assigned === null) onServe.push(serve)
      else process.nextTick(serve, { slot: assigned })
    }
  }
  Object.defineProperty(process, kApi, { value: api })
  /** As of the call: features may come later. */
  const current = {
    movable: (/** @type {Parameters<NonNullable<Api['movable']>>} */ ...args) => api.movable?.(...args),
    onMoved: (/** @type {Parameters<NonNullable<Api['onMoved']>>} */ ...args) => api.onMoved?.(...args),
    onDrain: api.onDrain,
    onAlone: (/** @type {(about: any) => unknown} */ fn) => { onAlone.push(fn) },
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
    leave (about) {
      tellApp('recycle:drain', about)
      for (const fn of onDrain) begin(fn, about)
      onDrain = []
    },
    alone (about) {
      for (const fn of onAlone) begin(fn, about)
    },
    drained: () => Promise.allSettled(draining),
    assign (slot) {
      assigned = slot
      process.env.RECYCLE_SLOT = String(slot)
      tellApp('recycle:serve', { slot })
      for (const fn of onServe) fn({ slot })
      onServe = []
    }
  }
}

/** @returns {Api | undefined} undefined outside a fleet */
const findApi = () => /** @type {any} */(process)[kApi]

module.exports = { offerApi, findApi }
