'use strict'

/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { Entry } from './entry' */

/**
 * Bytes that the app of a worker sends to a connection that has gone to another one, on its way there; and what that
 * one asks of the first. See lib/features/migration/trails.js.
 *
 *     sender                 primary                receiver
 *       ├─ behind ────────────▶ as the connection ───▶ │ writes it
 *       │ ◀────────────────── ahead ───────────────────┤ tell all up to here; or: it is to close there
 *       ├─ behind, isOver ───────────────────────────▶ │
 *
 * What comes before the connection has a receiver is kept for it.
 */

/**
 * @typedef {object} Trail
 * @property {WorkerHandle} sender
 * @property {number} offerId the sender's
 * @property {WorkerHandle | null} receiver
 * @property {number} id the receiver's
 * @property {Record<string, any>[]} kept of `behind`
 */

class Trails {
  /** @type {Map<WorkerHandle, Map<number, Trail>>} */
  #bySender = new Map()
  /** @type {Map<WorkerHandle, Map<number, Trail>>} */
  #byReceiver = new Map()

  /** @param {WorkerHandle} handle one that may offer and adopt */
  connect (handle) {
    this.connectLender(handle)
    handle.hear({
      ahead: ({ id, mark }) => {
        const trail = this.#byReceiver.get(handle)?.get(id)
        if (trail) send(trail.sender, 'ahead', { id: trail.offerId, mark })
      }
    })
  }

  /** @param {WorkerHandle} handle one that offers */
  connectLender (handle) {
    handle.hear({
      behind: ({ id, ...fields }) => {
        const trail = this.#bySender.get(handle)?.get(id)
        if (trail) this.#pass(trail, fields)
      }
    })
    handle.on('exit', () => this.#gone(handle))
  }

  /** @param {Entry} entry one that has been offered */
  open ({ sender, offerId }) {
    put(this.#bySender, sender, offerId, { sender, offerId, receiver: null, id: 0, kept: [] })
  }

  /** The connection has arrived. @param {Entry} entry @param {WorkerHandle} receiver */
  link ({ sender, offerId, id, parcel }, receiver) {
    const trail = parcel.isFollowed && this.#bySender.get(sender)?.get(offerId)
    if (!trail) return
    Object.assign(trail, { receiver, id })
    put(this.#byReceiver, receiver, id, trail)
    for (const fields of trail.kept.splice(0)) this.#pass(trail, fields)
  }

  /** The sender is not to wait for a receiver. @param {Entry} entry */
  end ({ sender, offerId, parcel }) {
    if (parcel.isFollowed) send(sender, 'ahead', { id: offerId, mark: null })
  }

  /** The trail is over, and has not arrived if it is not linked. @param {Entry} entry */
  close ({ sender, offerId }) {
    const trail = this.#bySender.get(sender)?.get(offerId)
    if (trail?.receiver === null) this.#delete(trail)
  }

  /** @param {Trail} trail @param {Record<string, any>} fields of `behind` */
  #pass (trail, fields) {
    if (trail.receiver === null) return trail.kept.push(fields)
    send(trail.receiver, 'behind', { id: trail.id, ...fields })
    if (fields.isOver) this.#delete(trail)
  }

  /** @param {WorkerHandle} handle a worker that has exited */
  #gone (handle) {
    for (const trail of this.#bySender.get(handle)?.values() ?? []) this.#pass(trail, { isOver: true })
    for (const trail of this.#byReceiver.get(handle)?.values() ?? []) {
      send(trail.sender, 'ahead', { id: trail.offerId, mark: null })
      this.#delete(trail)
    }
  }

  /** @param {Trail} trail */
  #delete ({ sender, offerId, receiver, id }) {
    remove(this.#bySender, sender, offerId)
    if (receiver) remove(this.#byReceiver, receiver, id)
  }
}

/** @param {WorkerHandle} handle @param {string} type @param {Record<string, any>} fields */
function send (handle, type, fields) {
  if (!handle.isGone) handle.send(type, fields)
}

/**
 * @param {Map<WorkerHandle, Map<number, Trail>>} map @param {WorkerHandle} handle @param {number} id
 * @param {Trail} trail
 */
function put (map, handle, id, trail) {
  const own = map.get(handle) ?? new Map()
  map.set(handle, own.set(id, trail))
}

/** @param {Map<WorkerHandle, Map<number, Trail>>} map @param {WorkerHandle} handle @param {number} id */
function remove (map, handle, id) {
  const own = map.get(handle)
  own?.delete(id)
  if (own?.size === 0) map.delete(handle)
}

module.exports = { Trails }
