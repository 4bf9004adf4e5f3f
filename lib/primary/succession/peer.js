'use strict'

/** The other primary: the messages that pass between the two, and its end. */

const { ourMessage } = require('../../core/envelope')
const { flawOf } = require('../../tables/message')
const { Channel } = require('../workers/channel')
const { howItLeft } = require('../workers/process')
/** @import { PredecessorProcess, SuccessorProcess } from './primary-process' */

/** Events. */
const EVENTS = Object.freeze({ exit: 'Left', failed: 'it has given up, or has been given up' })

/** @template {SuccessorProcess | PredecessorProcess} Process */
class Peer extends Channel {
  /** Why it has given up. @type {string | null} */
  #failure = null

  /**
   * @param {Process} process
   * @param {Readonly<Record<string, import('../../tables/message').Kind>>} kinds of its messages
   */
  constructor (process, kinds) {
    super(/** @type {any} */ (process), kinds, EVENTS)
    this.other = process
    process.on('message', (/** @type {any} */ received, /** @type {any} */ handle) => {
      const message = ourMessage(received, handle)
      if (message === null) return
      const { cmd, type, ...fields } = message
      const flaw = flawOf(kinds, message, handle)
      if (flaw === null) return this.handlers.call(type, fields, handle)
      handle?.close?.()
      if (!Object.hasOwn(kinds, type)) return // of a later version
      // Of another version: it keeps the connection
      if (type === 'adopt' && Number.isSafeInteger(fields.id)) this.send('refused', { id: fields.id })
      else this.fail(`it sent an invalid message (${String(type).slice(0, 40)}): ${flaw}`)
    })
  }

  /** Nothing more is expected of it. @param {string} why */
  fail (why) {
    this.#failure ??= why
    this.emit('failed')
  }

  /**
   * @param {string} type of the message that is to come: it can be expected once
   * @param {number} timeoutMs @returns {Promise<any>} its fields
   * @throws {Error} why it does not come: the other one has failed, exited, or is silent
   */
  async expect (type, timeoutMs) {
    const { event, value } = this.#failure === null ? await this.next(['failed', 'exit'], timeoutMs, heard => this.hear({ [type]: heard })) : { event: 'failed' }
    if (event === 'heard') return value
    if (event === 'failed') throw new Error(/** @type {string} */ (this.#failure))
    if (event === 'exit') throw new Error(`it ${howItLeft(value)}`)
    throw new Error(`it was silent for ${timeoutMs} ms`)
  }
}

module.exports = { Peer }
