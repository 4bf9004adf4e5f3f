'use strict'

/**
 * The control socket of a running fleet: accepts a limited number of clients, and answers them before the fleet ends.
 */

const { version } = require('../../package.json')
const { encode, writeError } = require('../control/protocol')
const { RecycleError } = require('../core/errors')
const { isQuiet } = require('../journal/sentence')
const { Connection } = require('./control-connection')
const { KeptSocket } = require('./kept-socket')
/** @import { Socket } from 'node:net' */

const MAX_CLIENTS = 32
const CLOSE_MS = 1000
const MAX_RECENT = 100 // lines

/**
 * @param {import('./control-verbs').Supervised} supervisor
 * @param {{ control: string | null, limits?: Partial<import('./control-connection').Limits> }} options
 * @returns {Promise<{ path: string | null, leave: () => Promise<void>, close: () => Promise<void> }>}
 * @throws {RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN
 */
async function openControl (supervisor, { control, limits }) {
  const { name, spawner: { app } } = supervisor
  const recent = new Recent(supervisor)
  /** @type {Set<Connection>} */
  const connections = new Set()
  const serve = (/** @type {Socket} */ socket) => {
    if (connections.size >= MAX_CLIENTS) return refuse(socket)
    const connection = new Connection(socket, { supervisor, recent, limits })
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
    connection.say({ hello: { name, pid: process.pid, app, version } })
  }
  const { succession } = supervisor
  const kept = new KeptSocket(serve, { name, control }, (event, fields) =>
    supervisor.announce(event, fields), () => supervisor.handover.isHandingOver)
  succession?.on('lead', () => kept.publish())
  await kept.open(succession?.takeover.pid)
  return {
    get path () {
      return kept.path
    },
    /** Another primary answers from now on; clients that are connected stay. */
    leave: () => kept.close(),
    async close () {
      await kept.close()
      await Promise.all([...connections].map(connection => connection.end(CLOSE_MS)))
    }
  }
}

/** @param {Socket} socket */
function refuse (socket) {
  socket.on('error', () => {})
  const error = writeError(new RecycleError('RECYCLE_CUT_OFF', { why: `it has ${MAX_CLIENTS} clients already` }))
  socket.end(encode({ id: null, error }), () => socket.destroy())
}

/** The last lines of the journal, without samples, for `follow`; independent of a journal file. */
class Recent {
  /** @type {Record<string, any>[]} */
  #lines = []

  /** @param {import('node:events').EventEmitter} supervisor */
  constructor (supervisor) {
    supervisor.on('event', line => {
      if (isQuiet(line)) return
      this.#lines.push(line)
      if (this.#lines.length > MAX_RECENT) this.#lines.shift()
    })
  }

  /** @param {number} count */
  last (count) {
    return count > 0 ? this.#lines.slice(-count) : []
  }
}

module.exports = { openControl }
