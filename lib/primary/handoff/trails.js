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
 * What comes before the connection has a receiver is kept for it. All this is of connections that are followed alone.
 */

/**
 * @typedef {object} Trail
 * @property {number} id of the connection
 * @property {WorkerHandle} sender
 * @property {WorkerHandle | null} receiver
 * @property {Record<string, unknown>[]} kept of `behind`
 */

class Trails {
  /** Several of a connection that has moved on: each worker has given it away once. @type {Map<number, Trail[]>} */
  #byId = new Map()

  /** @param {WorkerHandle} handle one that may send and receive connections */
  connect (handle) {
    handle.hear({
      behind: ({ id, ...fields }) => {
        const trail = this.#find(id, 'sender', handle)
        if (trail) this.#pass(trail, fields)
      },
      ahead: ({ id, mark }) => {
        const trail = this.#find(id, 'receiver', handle)
        if (trail) send(trail.sender, 'ahead', { id, mark })
      }
    })
    handle.on('exit', () => {
      for (const trail of [...this.#byId.values()].flat()) this.#gone(trail, handle)
    })
  }

  /** @param {Entry} entry one that has been offered */
  open ({ sender, id }) {
    this.#byId.set(id, [...this.#byId.get(id) ?? [], { id, sender, receiver: null, kept: [] }])
  }

  /** The connection has arrived. @param {Entry} entry @param {WorkerHandle} receiver */
  link ({ sender, id }, receiver) {
    const trail = this.#find(id, 'sender', sender)
    if (!trail) return
    trail.receiver = receiver
    for (const fields of trail.kept.splice(0)) this.#pass(trail, fields)
  }

  /** The sender is not to wait for a receiver. @param {Entry} entry */
  end ({ sender, id }) {
    send(sender, 'ahead', { id, mark: null })
  }

  /** The trail is over, and has not arrived if it is not linked. @param {Entry} entry */
  close ({ sender, id }) {
    const trail = this.#find(id, 'sender', sender)
    if (trail && trail.receiver === null) this.#delete(trail)
  }

  /** @param {number} id @param {'sender' | 'receiver'} side @param {WorkerHandle} handle */
  #find (id, side, handle) {
    return this.#byId.get(id)?.findLast(trail => trail[side] === handle)
  }

  /** @param {Trail} trail @param {Record<string, unknown>} fields of `behind` */
  #pass (trail, fields) {
    const { id, receiver, kept } = trail
    if (receiver === null) return kept.push(fields)
    send(receiver, 'behind', { id, ...fields })
    if (fields.isOver) this.#delete(trail)
  }

  /** @param {Trail} trail @param {WorkerHandle} handle a worker that has exited */
  #gone (trail, handle) {
    if (trail.sender === handle) this.#pass(trail, { isOver: true })
    if (trail.receiver !== handle) return
    send(trail.sender, 'ahead', { id: trail.id, mark: null })
    this.#delete(trail)
  }

  /** @param {Trail} trail */
  #delete (trail) {
    const others = (this.#byId.get(trail.id) ?? []).filter(other => other !== trail)
    if (others.length > 0) this.#byId.set(trail.id, others)
    else this.#byId.delete(trail.id)
  }
}

/**
 * @template {'ahead' | 'behind'} Type
 * @param {WorkerHandle} handle @param {Type} type @param {import('../../messages').FromPrimary[Type]} fields
 */
function send (handle, type, fields) {
  if (!handle.isGone) handle.send(type, fields)
}

module.exports = { Trails }
