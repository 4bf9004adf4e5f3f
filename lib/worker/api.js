'use strict'

/**
 * What `require('recycle-supervisor/worker')` calls. The app may load another copy of this package than the one that
 * supervises it, so the functions are registered on `process` under a global symbol.
 *
 * @typedef {object} Api
 * @property {(reason?: string) => void} requestRecycle
 * @property {(socket: import('node:net').Socket) => void} pin
 * @property {(fn: (about: { slot: number }) => void) => void} onServe
 */
const { LONGEST_WISH } = require('../core/message')

const kApi = Symbol.for('recycle-supervisor.worker')

/**
 * @param {{ tracker: import('./connections/tracker').ConnectionTracker, assignment: import('./boot/slot').SlotAssignment }} deps
 * @returns {(channel: import('./channel').Channel) => void} gives it the channel; without one there is no worker to recycle
 */
function offerApi ({ tracker, assignment }) {
  /** @type {import('./channel').Channel | null} */
  let channel = null
  /** @type {Api} */
  const api = {
    requestRecycle: reason => channel?.send('requested', { reason: typeof reason === 'string' ? reason.slice(0, LONGEST_WISH) : undefined }),
    pin: socket => {
      const connection = tracker.of(socket)
      if (connection) connection.isPinned = true
    },
    onServe: fn => assignment.onServe(fn)
  }
  Object.defineProperty(process, kApi, { value: api })
  return connected => { channel = connected }
}

/** @returns {Api | undefined} undefined outside a fleet */
function findApi () {
  return /** @type {any} */ (process)[kApi]
}

module.exports = { offerApi, findApi }
