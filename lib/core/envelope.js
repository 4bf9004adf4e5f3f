'use strict'

/**
 * How messages travel between the primary and its workers: as Node's internal messages (a `cmd` that starts with
 * `NODE_`), so that an app's own `process.on('message')` never sees one and none of the app's messages can be taken for
 * ours. What they are is in message.js, which a worker does not load.
 *
 * @typedef {{ cmd: 'NODE_RECYCLE', type: string } & Record<string, any>} Message
 */

const CMD = 'NODE_RECYCLE'
const LONGEST_WISH = 200
const LONGEST_ERROR = 500
const MOST_REQUESTS = 100 // that are told at a time

/** @param {string} type @param {object} [fields] @returns {Message} */
const message = (type, fields) => ({ cmd: CMD, type, ...fields })

/**
 * A message that carries a handle loses it where the receiver has no descriptor left, and Node drops the message with
 * it, for a raw handle is not sent again. Here it is one of ours all the same, without the handle.
 * @param {any} received by `internalMessage` @param {unknown} [handle] what came with it
 * @returns {Message | null} null: it is cluster's, or Node's
 */
function ourMessage (received, handle) {
  const message = received?.cmd === 'NODE_HANDLE' && !handle ? received.msg : received
  return message?.cmd === CMD ? message : null
}

/**
 * The process at the other end has died, though Node may not have read the end yet: writes go before.
 * @param {NodeJS.ErrnoException | null} error of a send
 */
const isCut = error => error?.code === 'EPIPE' || error?.code === 'ECONNRESET'

/** Work at each message: a function. */
class Handlers {
  /** @type {Record<string, (fields: object, handle?: unknown) => void>} */
  #byType = Object.create(null)

  /**
   * @param {Readonly<Record<string, unknown>> | null} kinds of the messages that may come; null: in a worker, which has
   *   no table of them (test/tables/message.test.js looks its handlers up)
   */
  constructor (kinds) {
    this.kinds = kinds
  }

  /**
   * @param {Record<string, (fields: any, handle?: any) => void>} handlers by the message's type
   * @throws {Error} where there is no such message, or it has a handler already
   */
  add (handlers) {
    for (const type of Object.keys(handlers)) {
      if (this.kinds && !Object.hasOwn(this.kinds, type)) throw new Error(`there is no message ${type}`)
      if (type in this.#byType) throw new Error(`the message ${type} has a handler already`)
    }
    Object.assign(this.#byType, handlers)
  }

  /**
   * Without a handler, where a feature is off, it is of no consequence.
   * @param {string} type @param {Record<string, object>} fields @param {unknown} [handle]
   */
  call (type, fields, handle) {
    this.#byType[type]?.(fields, handle)
  }
}

module.exports = { LONGEST_WISH, LONGEST_ERROR, MOST_REQUESTS, message, isCut, ourMessage, Handlers }
