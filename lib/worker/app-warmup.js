'use strict'

/**
 * Requests that the app answers before it listens: its code is compiled, and its caches fill. V8 compiles code for
 * objects of the shapes that it has seen and drops it when others come. So these requests go the way of clients': an
 * acceptor takes connections that another process opens, several at a time and one after the other, the tracker knows
 * them, and some leave as to a sibling, and come.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')
const { clearInterval, setInterval } = require('node:timers')
const { acceptEarly, trackBeforeListening } = require('../core/internals')
const { Acceptor } = require('./accepting/acceptor')
const { Inbox } = require('./handoff/inbox')
/** @import { Handle } from '../core/internals' */
/** @import { ConnectionTracker as Tracker } from './connections/tracker' */
/** @import { Server } from 'node:http' */

const CLIENT = path.join(__dirname, 'boot', 'warmup-client.js')
const MOVE_MS = 10
const MOVE_AT_ONCE = 3

/**
 * Resolves when all are answered and the connections are closed.
 * @param {unknown[]} servers those of http and https are asked, others are left out @param {number} requests for each
 * @param {Tracker} tracker @throws {Error} where the app leaves one without an answer
 */
async function warmUpApp (servers, requests, tracker) {
  for (const server of servers) {
    if (requests > 0 && (server instanceof http.Server || server instanceof https.Server)) {
      await warmUp(server, requests, tracker)
    }
  }
  tracker.requests.begun = 0
}

/** @param {Server | import('node:https').Server} server @param {number} requests @param {Tracker} tracker */
async function warmUp (server, requests, tracker) {
  // The bytes come as TLS would have deciphered them: a client certificate, say, is not to be had here.
  const door = net.createServer({ allowHalfOpen: true, noDelay: true },
    socket => server.emit('secureConnection', socket))
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true }) // of this process alone: the primary is not asked
  await once(door, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (door.address())
  const acceptor = new Acceptor(server, 'warm-up', /** @type {Handle} */ (door._handle), false, () => {})
  const stopAccepting = acceptEarly(server, acceptor.facade, door, server instanceof https.Server ? door : server)
  tracker.watch(acceptor)
  const stop = moveInCircles(acceptor, tracker)
  const client = spawn(process.execPath, [CLIENT, String(port), String(requests)], { env: {}, stdio: 'ignore' })
  const [code] = await once(client, 'exit')
  stop()
  while (tracker.total > 0) await once(tracker, 'gone')
  stopAccepting()
  await new Promise(resolve => door.close(resolve))
  if (code !== 0) throw new Error('a connection was closed without an answer')
}

/** Idle connections leave as to a sibling, and come. @param {Acceptor} acceptor @param {Tracker} tracker */
function moveInCircles (acceptor, tracker) {
  trackBeforeListening(acceptor.server)
  acceptor.selfTest()
  const inbox = new Inbox({ tracker })
  const timer = setInterval(() => {
    tracker.noteIdle()
    const idle = [...tracker.connections].filter(connection => connection.isMovable && connection.isIdle)
    for (const connection of idle.slice(0, MOVE_AT_ONCE)) {
      const parcel = tracker.take(connection)
      tracker.adopt(connection, parcel, /** @type {Handle} */ (connection.handle))
      inbox.wait(connection)
    }
  }, MOVE_MS)
  return () => clearInterval(timer)
}

module.exports = { warmUpApp }
