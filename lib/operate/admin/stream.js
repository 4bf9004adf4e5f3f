'use strict'

/** @import { ServerResponse } from 'node:http' */

const MOST_PAGES = 16
const MOST_UNREAD_BYTES = 1024 ** 2

/** Server-sent events to the open pages. A page that does not read is disconnected, and reconnects when it can. */
class Stream {
  /** @type {Set<ServerResponse>} */
  #responses = new Set()

  get isFull () {
    return this.#responses.size >= MOST_PAGES
  }

  get isIdle () {
    return this.#responses.size === 0
  }

  /**
   * @param {ServerResponse} response whose head is not written yet @param {string} event the first event
   * @param {unknown} data
   */
  add (response, event, data) {
    response.writeHead(200,
      { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    if (response.req.method === 'HEAD') return response.end()
    response.write('retry: 2000\n\n')
    response.write(eventOf(event, data))
    this.#responses.add(response)
    response.once('close', () => this.#responses.delete(response))
  }

  /** @param {string} event @param {unknown} data */
  send (event, data) {
    const text = eventOf(event, data)
    for (const response of this.#responses) {
      if (response.writableLength > MOST_UNREAD_BYTES) response.destroy()
      else response.write(text)
    }
  }

  end () {
    for (const response of this.#responses) response.end()
    this.#responses.clear()
  }
}

/** @param {string} event @param {unknown} data */
const eventOf = (event, data) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

module.exports = { Stream }
