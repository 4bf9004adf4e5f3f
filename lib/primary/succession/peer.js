'use strict'

/**
 * The other primary: the messages that pass between the two, and its end. To the ledger of this one it is a sender of
 * connections, or a receiver that stands for all its workers. So a connection that moves to the other fleet is in two
 * transactions, one inside the other:
 *
 *     old worker      old primary: ledger       new primary: ledger      new worker
 *         │ move ─────────▶ │ move ──────────────────▶ │ move ─────────────▶ │ held, unread
 *         │                 │ ◀─────────────── moved ──┤ ◀───────── moved ───┤
 *         │ ◀──────── moved ┤ moved ─────────────────▶ │ moved ────────────▶ │ reads
 *
 * If a primary dies on the way, one copy is left: when the old primary dies, the new one decides, for the old worker
 * has closed its copy; at the new primary's death the new worker closes what is lent, and the old primary has it.
 */

const { flawOf } = require('../../tables/message')
const { Channel } = require('../workers/channel')
const { howItLeft } = require('../workers/process')
/** @import { Message } from '../../core/envelope' */
/** @import { FromSuccessor } from '../../messages' */
/** @import { Kind } from '../../tables/message' */
/** @import { PredecessorProcess, SuccessorProcess } from './primary-process' */

/** Events. */
const EVENTS = Object.freeze({ exit: 'Left', failed: 'it has given up, or has been given up' })

/** @template {SuccessorProcess | PredecessorProcess} [Process=SuccessorProcess | PredecessorProcess] */
class Peer extends Channel {
  /** Why it has given up. @type {string | null} */
  #failure = null
  /** The addresses that each of its workers listens on. @type {Set<string>} */
  addresses = new Set()
  /** Connections can pass between the two: they speak of them alike. */
  mayMove = true
  /** Of no matter where all workers of this fleet leave. */
  connections = 0

  /** @param {Process} process @param {Readonly<Record<string, Kind>>} kinds of its messages */
  constructor (process, kinds) {
    super(/** @type {any} */ (process), kinds, EVENTS)
    this.other = process
    this.kinds = kinds
  }

  /** @override @type {Channel['receive']} */
  receive (message, /** @type {import('../../core/internals').Handle | undefined} */ handle) {
    const { cmd, type, ...fields } = message
    const flaw = flawOf(this.kinds, message, handle)
    if (flaw === null) return this.handlers.call(type, fields, handle)
    handle?.close?.()
    if (!Object.hasOwn(this.kinds, type)) return // of a later version
    // Of another version: it keeps the connection
    if (type === 'move' && Number.isSafeInteger(fields.id)) this.send('moved', { id: fields.id, ok: false })
    else this.fail(`it sent an invalid message (${String(type).slice(0, 40)}): ${flaw}`)
  }

  /** Nothing more is expected of it. @param {string} why */
  fail (why) {
    this.#failure ??= why
    this.emit('failed')
  }

  /**
   * @template {keyof FromSuccessor} Type
   * @param {Type} type of the message that is to come: it can be expected once
   * @param {number} timeoutMs @returns {Promise<FromSuccessor[Type]>} its fields
   * @throws {Error} why it does not come: the other one has failed, exited, or is silent
   */
  async expect (type, timeoutMs) {
    const { event, value } = this.#failure === null
      ? await this.next(['failed', 'exit'], timeoutMs, heard => this.hear({ [type]: heard }))
      : { event: 'failed' }
    if (event === 'heard') return value
    if (event === 'failed') throw new Error(/** @type {string} */ (this.#failure))
    if (event === 'exit') throw new Error(`it ${howItLeft(value)}`)
    throw new Error(`it was silent for ${timeoutMs} ms`)
  }
}

module.exports = { Peer }
