'use strict'

/** @import { ServerData } from '../../tables/message' */

/**
 * The keys for TLS session tickets that servers of one address share, so that a client's session is resumed by any of
 * them. A ticket says that its client has been verified; so servers whose options differ (another CA, keys of their
 * own) share none: a session that was begun under the old options ends with them.
 */

const MOST = 10 // an app may ask with other options each time

class TicketKeys {
  /** By their options, the latest last. @type {Map<string, ServerData>} */
  #shared = new Map()

  /** @param {ServerData} [data] of a predecessor */
  constructor (data) {
    if (data) this.#shared.set(data.options ?? '', data)
  }

  /**
   * @param {ServerData} data of a server that is about to listen @param {number} [generation] of its worker
   * @returns {ServerData} what it is to use
   */
  share (data, generation = 0) {
    const options = `${data.options ?? ''}${data.isOpaque ? ` ${generation}` : ''}`
    const shared = this.#shared.get(options) ?? data
    this.#shared.delete(options)
    this.#shared.set(options, shared)
    if (this.#shared.size > MOST) this.#shared.delete(/** @type {string} */ (this.#shared.keys().next().value))
    return shared
  }

  /** For a successor. @returns {ServerData | undefined} */
  get latest () {
    return [...this.#shared.values()].at(-1)
  }
}

module.exports = { TicketKeys }
