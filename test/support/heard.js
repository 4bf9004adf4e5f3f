'use strict'

/**
 * A worker as the primary's parts see it, for tests of one of these: what it says is handled by the part's handlers.
 */

const { EventEmitter } = require('node:events')
const { Handlers } = require('../../lib/core/envelope')
const { FROM_WORKER, FROM_PRIMARY } = require('../../lib/tables/message')

const KINDS = { ...FROM_PRIMARY, ...FROM_WORKER } // another primary lends connections by some of the primary's

class Heard extends EventEmitter {
  #handlers = new Handlers(KINDS)

  /** @type {Handlers['add']} */
  hear (handlers) {
    this.#handlers.add(handlers)
  }

  /** @param {string} type @param {Record<string, any>} [fields] @param {any} [socket] */
  say (type, fields = {}, socket) {
    this.#handlers.call(type, fields, socket)
  }
}

module.exports = { Heard }
