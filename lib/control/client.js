'use strict'

/** The client's side of the control socket: finds a fleet, and sends it requests. */

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { RecycleError } = require('../core/errors')
const { fileId } = require('../core/file-id')
const { types } = require('../core/option-types')
const { allSockets, searchedFolders, trustedFolders, distrusted, socketIn, nameBy } = require('./socket-path')
const { Lines, encode, decode, readError } = require('./protocol')
/** @import { Env } from './socket-path' */

const HELLO_MS = 5000
const MAX_LINE_BYTES = 64 * 1024 * 1024 // the fleet is trusted, but the memory for its answer is bounded

/**
 * @typedef {{ name: string, pid: number | null, app: string | null, path: string }} Found a fleet and its socket; `pid`
 *   null: it does not answer
 *
 * @typedef {object} Ask
 * @property {(progress: Record<string, unknown>) => void} [onProgress]
 * @property {(line: Record<string, unknown>) => void} [onEvent]
 * @property {boolean} [wait] false: resolve as soon as the fleet has begun
 */

/** A connection to a fleet. */
class Client {
  /** The fleet's greeting. @type {{ name: string, pid: number, app: string, version: string } | null} */
  hello = null
  #lastId = 0
  /** @type {Map<number, Ask & { resolve: (result: unknown) => void, reject: (error: Error) => void }>} */
  #asked = new Map()
  /** The reason why no more answers come. @type {Error | null} */
  ended = null

  /** @param {net.Socket} socket @param {() => void} greeted */
  constructor (socket, greeted) {
    this.socket = socket
    const lines = new Lines(MAX_LINE_BYTES)
    socket.on('data', chunk => {
      const { lines: whole, isTooLong } = lines.push(/** @type {Buffer} */ (chunk))
      for (const line of whole) this.#hear(decode(line), greeted)
      if (isTooLong) socket.destroy()
    })
    socket.on('error', () => {}) // its close follows
    socket.on('close', () => this.#end(new RecycleError('RECYCLE_FLEET_GONE', { name: this.hello?.name ?? '' })))
  }

  /**
   * @param {string} verb @param {Record<string, unknown>} [args] @param {Ask} [ask]
   * @returns {Promise<any>} the result of the verb; with `wait: false` undefined, as soon as the fleet has begun
   * @throws {RecycleError} that of the fleet; RECYCLE_FLEET_GONE, RECYCLE_CUT_OFF
   */
  call (verb, args = {}, { onProgress, onEvent, wait = true } = {}) {
    if (this.ended) return Promise.reject(this.ended)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { onProgress, onEvent, wait, resolve, reject })
      this.socket.write(encode({ ...args, id, verb }))
    })
  }

  /**
   * Calls `onLine` with every line of the journal from now on.
   * @param {(line: Record<string, unknown>) => void} onLine
   * @param {{ last?: number, isOver?: boolean }} [how] `last`: number of earlier lines to begin with, without samples;
   *   `isOver`: these alone
   * @returns {Promise<boolean>} resolves at the end of this primary: true if another one runs the fleet by then
   */
  async follow (onLine, { last = 0, isOver = false } = {}) {
    let hasHeard = false
    let isLeft = false // a fleet of an earlier version tells by its events alone
    try {
      const result = await this.call('follow', { last, isOver }, {
        onEvent: line => {
          hasHeard = true
          isLeft ||= line.event === 'fleet.left'
          onLine(line)
        }
      })
      return result?.isLeft ?? isLeft
    } catch (error) {
      // A primary that was about to exit as it greeted has not read this request
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      if (isLeft || (!hasHeard && code === 'RECYCLE_FLEET_GONE')) return true
      throw error
    }
  }

  close () {
    this.socket.destroy()
  }

  /** @param {import('./protocol').Message | null} message @param {() => void} greeted */
  #hear (message, greeted) {
    if (message === null) return
    if (message.hello) {
      this.hello = message.hello
      return greeted()
    }
    const asked = this.#asked.get(message.id)
    if (message.error && !asked) return this.#end(readError(message.error))
    if (!asked) return
    if (message.progress) return asked.onProgress?.(message.progress)
    if (message.event) return asked.onEvent?.(message.event)
    if (message.ok && asked.wait) return
    this.#asked.delete(message.id)
    if (message.error) asked.reject(readError(message.error))
    else asked.resolve(message.result)
  }

  /** @param {Error} error */
  #end (error) {
    this.ended ??= error
    for (const { reject } of this.#asked.values()) reject(this.ended)
    this.#asked.clear()
  }
}

/**
 * @param {string} socketPath @returns {Promise<Client>} after the fleet's greeting
 * @throws {RecycleError} RECYCLE_NO_ANSWER, with `details.isLive` if a process listens and does not greet
 */
async function connect (socketPath) {
  for (;;) {
    const before = idOf(socketPath)
    try {
      return await connectOnce(socketPath)
    } catch (error) {
      if (idOf(socketPath) === before) throw error // else another primary has taken the socket's place meanwhile
    }
  }
}

/** @param {string} file @returns {string | null} null: there is none, or it is out of reach */
const idOf = file => attempt(() => fileId(fs.statSync(file)), null)

/** @param {string} file */
const isFolder = file => attempt(() => fs.statSync(file).isDirectory(), false) // connect() says why

/** @param {string} socketPath @returns {Promise<Client>} */
function connectOnce (socketPath) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: socketPath })
    const fail = (/** @type {string} */ why, isLive = true) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new RecycleError('RECYCLE_NO_ANSWER', { path: socketPath, why, isLive }))
    }
    const timer = setTimeout(() => fail(`a process listens there, but sent nothing for ${HELLO_MS} ms`), HELLO_MS)
    socket.once('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) =>
      fail(WHY[code ?? ''] ?? message, !Object.hasOwn(WHY, code ?? '')))
    socket.once('end', () => fail(client.ended?.message ?? 'the process that listens there closed the connection'))
    const client = new Client(socket, () => {
      clearTimeout(timer)
      resolve(client)
    })
  })
}

/** Errors that mean that no process listens. @type {Record<string, string>} */
const WHY = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'no process listens there any more',
  ENOTSOCK: 'it is not a socket',
  ENOTDIR: 'it is not a socket'
}

/**
 * Finds the fleet that listens on a socket.
 * @param {string} socketPath @returns {Promise<Found | null>} null: no process listens there
 */
async function fleetAt (socketPath) {
  try {
    const client = await connect(socketPath)
    const { name, pid, app } = /** @type {NonNullable<Client['hello']>} */ (client.hello)
    client.close()
    return { name, pid, app, path: socketPath }
  } catch (error) {
    if (!(error instanceof RecycleError)) throw error
    return error.details.isLive ? { name: nameBy(socketPath), pid: null, app: null, path: socketPath } : null
  }
}

/**
 * @param {Env} [env] @param {{ ofAll?: boolean }} [how] `ofAll`: for root, those of other users too
 * @returns {Promise<Found[]>} the fleets with a socket in one of the usual folders
 */
async function listFleets (env = process.env, how = {}) {
  const found = await Promise.all(allSockets(env, how).map(fleetAt))
  return found.filter(fleet => fleet !== null)
}

/**
 * Finds a fleet by its name, by the path of its socket, or as the only running fleet; `control` may be a folder of
 * sockets, too.
 * @param {{ name?: string | null, control?: string | null }} which @param {Env} [env] @returns {Promise<Found>}
 * @throws {RecycleError} RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS
 */
async function findFleet ({ name, control }, env = process.env) {
  if (control && isFolder(control)) return findFleet({ name }, { RECYCLE_CONTROL_DIR: control })
  if (control) {
    const client = await connect(path.resolve(control))
    client.close()
    const { name, pid, app } = /** @type {NonNullable<Client['hello']>} */ (client.hello)
    return { name, pid, app, path: path.resolve(control) }
  }
  // Fleets have no other names, and a path would lead out of the folder
  const isName = types.name().read(name) !== undefined
  if (typeof name === 'string' && isName) {
    const found = await Promise.all(trustedFolders(env).map(folder => fleetAt(socketIn(folder, name))))
    const fleet = found.find(fleet => fleet !== null)
    if (fleet) return fleet
  }
  const running = await listFleets(env)
  const named = running.map(({ name, pid }) => `${name} (${pid === null ? 'does not answer' : `pid ${pid}`})`)
    .join(', ')
  if (typeof name === 'string' || running.length === 0) {
    throw new RecycleError('RECYCLE_NO_FLEET',
      { name, running: named, folders: searchedFolders(env).join(' or '), distrusted: distrusted(env).join(', ') })
  }
  if (running.length > 1) throw new RecycleError('RECYCLE_SEVERAL_FLEETS', { running: named })
  return running[0]
}

module.exports = { Client, connect, fleetAt, listFleets, findFleet }
