'use strict'

/** The ways to a hub: in this process, or over a unix socket. (redis-wire.js has the third.) */

const net = require('node:net')
const { overLines } = require('./lines')

const RETRY_MS = 200

/** A hub in this process. @param {import('./hub').Hub} hub @returns {import('./hub-client').Wire} */
function localWire (hub) {
  /** @type {import('./desktops').Link} */
  const link = { send: () => {} }
  return {
    send: message => hub.receive(link, message),
    open (on) {
      link.send = message => setImmediate(on.message, message)
      hub.attach(link)
      on.up()
    },
    close: () => hub.detach(link)
  }
}

/**
 * @param {string} file
 * @param {() => void} absent is called each time that no hub is found there
 * @returns {import('./hub-client').Wire}
 */
function socketWire (file, absent = () => {}) {
  /** @type {net.Socket} */
  let socket
  let isClosed = false
  /** @type {(message: Record<string, any>) => void} */
  let send = () => {}
  return {
    send: message => send(message),
    open (on) {
      const connect = () => {
        let isUp = false
        socket = net.connect(file, () => {
          isUp = true
          on.up()
        })
        send = overLines(socket, on.message)
        socket.on('error', () => {}) // `close` follows
        socket.on('close', () => {
          if (isClosed) return
          if (isUp) on.down()
          else absent()
          setTimeout(connect, RETRY_MS)
        })
      }
      connect()
    },
    close () {
      isClosed = true
      socket.destroy()
    }
  }
}

module.exports = { localWire, socketWire }
