'use strict'

/** Counts the requests of all connections of this worker. This runs for every request, so it is kept short. */

const { performance } = require('node:perf_hooks')
const { JUST_NOW } = require('./connection')
/** @import { Connection, Exchange } from './connection' */

class Requests {
  /** Since the start. */
  begun = 0
  /** Messages of connections whose protocol is the app's, as far as they are counted, since the start. */
  messages = 0
  /** Requests whose response has not closed. */
  inFlight = 0
  /** The clock is read as each begins and ends; else they are JUST_NOW until Connection.looked(). */
  areTimed = false

  /**
   * @param {Connection} connection @param {Exchange['head']} head
   * @param {any} response of HTTP/1, or a stream of HTTP/2
   * @param {number} written bytes that have been written to the connection @returns {Exchange}
   */
  begin (connection, head, response, written) {
    const since = this.areTimed ? performance.now() : JUST_NOW
    const exchange = {
      head, response, number: this.begun, since, written, isMarked: false, isSuspect: false, connection, current: null
    }
    connection.exchanges.push(exchange)
    connection.requests++
    this.begun++
    this.inFlight++
    return exchange
  }

  /** @param {Connection} connection @param {number} count of messages that have come, each as a request makes load */
  heard (connection, count) {
    connection.requests += count
    this.messages += count
  }

  /** @param {Exchange} exchange @returns {boolean} it was still in flight */
  end (exchange) {
    const { connection } = exchange
    const { exchanges } = connection
    const at = exchanges.indexOf(exchange)
    if (at === -1) return false
    if (exchanges.length === 1) exchanges.pop() // the array keeps its room, as with shift() it does not
    else exchanges.splice(at, 1)
    this.inFlight--
    if (exchange.current) exchange.current.exchange = null
    connection.replayed = connection.deaths = 0
    connection.idleSince = this.areTimed ? performance.now() : JUST_NOW
    return true
  }
}

module.exports = { Requests }
