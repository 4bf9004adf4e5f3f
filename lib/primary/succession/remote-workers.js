'use strict'

/**
 * The workers of the other primary, as the ledger of this one sees them: objects with the part of WorkerHandle that it
 * uses. So a connection that moves to the other fleet is in two transactions, one inside the other:
 *
 *     old worker      old primary: ledger       new primary: ledger      new worker
 *         │ offer ────────▶ │ adopt ─────────────────▶ │ adopt ────────────▶ │ held, unread
 *         │                 │ ◀────────────── adopted ─┤ ◀───────── adopted ─┤
 *         │ ◀──────── moved ┤ keep ──────────────────▶ │ keep ─────────────▶ │ reads
 *
 * If a primary dies on the way, one copy is left: of the old primary's death the new one hears, and says `keep`, for
 * the old worker has closed its copy; at the new primary's death the new worker closes what is lent, and the old
 * primary has it still.
 */

const { EventEmitter } = require('node:events')
const { Handlers } = require('../../core/envelope')
const { FROM_WORKER } = require('../../tables/message')
/** @import { Channel } from '../workers/channel' */
/** @import { Peer } from './peer' */

/**
 * A receiver: as many as the other fleet has workers, each with one connection under way. What they have in connections
 * does not matter here, where all of this fleet's leave.
 */
class RemoteReceiver extends EventEmitter {
  handlers = new Handlers(FROM_WORKER)
  connections = 0
  isServing = true

  /** @param {RemoteReceivers} group */
  constructor (group) {
    super()
    this.group = group
  }

  /** @type {Handlers['add']} */
  hear (handlers) {
    this.handlers.add(handlers)
  }

  get isGone () {
    return this.group.successor.isGone
  }

  get addresses () {
    return this.group.addresses
  }

  /** @type {Channel['send']} */
  send (type, fields, socket, sent) {
    const { id, parcel, isOver } = /** @type {any} */ (fields ?? {})
    if (type === 'adopt') this.group.add(id, this, parcel.isFollowed)
    else if (type === 'drop' || isOver || (type === 'keep' && !this.group.followed.has(id))) this.group.settle(id)
    this.group.successor.send(type, type === 'adopt' ? this.group.lent(fields) : fields, socket, sent)
  }
}

class RemoteReceivers {
  /** By the id of the connection under way, or taken back. @type {Map<number, RemoteReceiver>} */
  byId = new Map()
  /** Bytes of its sender's app come behind it. @type {Set<number>} */
  followed = new Set()

  /**
   * @param {Peer<any>} successor @param {object} about @param {number} about.count of its workers
   * @param {string[]} about.addresses that each of them listens on
   * @param {boolean} [about.takesSessions] it has been told of this fleet's
   */
  constructor (successor, { count, addresses, takesSessions = false }) {
    this.successor = successor
    this.takesSessions = takesSessions
    this.addresses = new Set(addresses)
    this.all = Array.from({ length: count }, () => new RemoteReceiver(this))
    const answer = (/** @type {string} */ type, /** @type {any} */ fields) => {
      this.byId.get(fields.id)?.handlers.call(type, fields)
    }
    successor.hear({
      adopted: fields => answer('adopted', fields), // by `keep` or `drop` it is settled
      ahead: fields => answer('ahead', fields),
      refused: fields => {
        answer('refused', fields)
        this.settle(fields.id)
      }
    })
    successor.on('exit', left => { for (const receiver of this.all) receiver.emit('exit', left) })
  }

  /** @param {number} id @param {RemoteReceiver} receiver @param {boolean} isFollowed */
  add (id, receiver, isFollowed) {
    this.byId.set(id, receiver)
    if (isFollowed) this.followed.add(id)
  }

  /** Nothing more is heard of it. @param {number} id */
  settle (id) {
    this.byId.delete(id)
    this.followed.delete(id)
  }

  /** Without what only this fleet knows: which of its workers own a session. @param {any} fields of `adopt` */
  lent ({ id, parcel: { session, isOwned, ...parcel } }) {
    return { id, parcel: session !== undefined && this.takesSessions ? { ...parcel, session } : parcel }
  }
}

/** The sender: the other primary, which has each connection until it says `keep`. */
class RemoteSender extends EventEmitter {
  slot = null

  /** @param {Peer<any>} predecessor */
  constructor (predecessor) {
    super()
    this.predecessor = predecessor
    predecessor.on('exit', left => this.emit('exit', left))
  }

  /** @type {Handlers['add']} */
  hear (handlers) {
    for (const [type, handler] of Object.entries(handlers)) this.predecessor.hear({ [type === 'offer' ? 'adopt' : type]: handler })
  }

  get isGone () {
    return this.predecessor.isGone
  }

  /** @type {Channel['send']} */
  send (type, fields) {
    if (type === 'ahead') this.predecessor.send(type, fields)
    else this.predecessor.send(type === 'back' ? 'refused' : 'adopted', { id: fields?.id })
  }
}

module.exports = { RemoteReceiver, RemoteReceivers, RemoteSender }
