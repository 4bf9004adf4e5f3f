'use strict'

/**
 * The worker's end of the channel to the primary. Sending never throws: when the primary is gone there is nobody left
 * to tell, and what the worker does about that is drain.js's business.
 */

const { message, dispatcher } = require('../core/message')

class Link {
  /** @type {Record<string, (fields: any, handle?: any) => void>} */
  #handlers = {}

  constructor () {
    process.on('internalMessage', dispatcher(this.#handlers))
  }

  /** @param {Record<string, (fields: any, handle?: any) => void>} handlers by message type */
  on (handlers) {
    Object.assign(this.#handlers, handlers)
  }

  get isUp () {
    return process.connected === true
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @param {any} [handle] a TCP or pipe handle
   * @param {(error: Error | null) => void} [sent]
   */
  send (type, fields, handle, sent = () => {}) {
    if (this.isUp) process.send?.(message(type, fields), handle, undefined, sent)
    else process.nextTick(sent, new Error('the primary is gone'))
  }
}

module.exports = { Link }
