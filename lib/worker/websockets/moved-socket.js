'use strict'

/** The socket of a WebSocket that goes to another worker, here as its connection has gone, and there as it has come. */

const http = require('node:http')
const { Overlap } = require('./overlap')
/** @import { Socket } from 'node:net' */
/** @import { Arrived } from '../../features/migration/trails' */

const MOVED = 'moved'

/**
 * The app's object stays open when its connection has gone, and what the app sends is passed on; see overlap.js.
 * @param {Socket} socket @param {() => void} onEnd called before its `close`
 * @returns {import('../../features/migration/trails').Follow}
 */
function followed (socket, onEnd) {
  let onClose = () => {}
  const goOn = () => {
    Reflect.deleteProperty(socket, 'write')
    socket.removeListener('close', onClose)
  }
  return {
    begin (pass) {
      for (const name of /** @type {const} */ (['remoteAddress', 'localAddress'])) void socket[name] // is kept
      socket.write = (/** @type {any} */ chunk, /** @type {any} */ encoding, /** @type {any} */ callback = null) => {
        const [form, done] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, callback]
        pass(typeof chunk === 'string' ? Buffer.from(chunk, form) : Buffer.from(chunk))
        if (done) process.nextTick(done)
        return true
      }
      onClose = () => pass(null)
      socket.once('close', onClose)
    },
    back: goOn,
    end () {
      socket.removeListener('close', onClose)
      onEnd()
      socket.destroy()
    }
  }
}

/**
 * The response to the upgrade is not written again: the client has had it. Where it would have been, the overlap with
 * the other worker begins.
 * @param {Socket} socket @param {Arrived | null} arrived @param {Omit<ConstructorParameters<typeof Overlap>[1],
 *   'arrived'>} how @returns {() => void} to be called when it would have been, at the latest
 */
function skipResponse (socket, arrived, how) {
  const nothing = () => {
    Reflect.deleteProperty(socket, 'write')
    if (arrived) new Overlap(socket, { arrived, ...how }) // eslint-disable-line no-new -- the socket has it
    return true
  }
  socket.write = nothing
  return () => { if (socket.write === nothing) Reflect.deleteProperty(socket, 'write') }
}

/** The request. @param {Socket} socket @param {{ url: string, rawHeaders: string[], httpVersion: string }} head */
function requestOf (socket, { url, rawHeaders, httpVersion }) {
  const request = new http.IncomingMessage(socket)
  /** @type {Record<string, string>} */
  const headers = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toLowerCase()
    headers[name] = Object.hasOwn(headers, name)
      ? `${headers[name]}${name === 'cookie' ? '; ' : ', '}${rawHeaders[i + 1]}`
      : rawHeaders[i + 1]
  }
  return Object.assign(request, { method: 'GET', url, rawHeaders, httpVersion, headers, complete: true })
}

module.exports = { MOVED, followed, requestOf, skipResponse }
