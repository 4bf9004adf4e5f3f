'use strict'

/**
 * A worker whose primary has died without a word serves on: its listening sockets are its own. What needs a primary
 * waits. The next primary of the fleet finds it by an abstract socket (core/orphan.js), is given what it has, and sends
 * one end of a new channel:
 *
 *     orphan                              new primary
 *        │◀───────────────────── connects ───┤
 *        ├── facts, listening sockets ──────▶│
 *        │◀─────────── adopt, the channel ───┤
 *        ├── hello, listen … by the channel ▶│     from here on it is a worker like any other
 *
 * Without one it leaves when its time is up, or by SIGTERM.
 */

const fs = require('node:fs')
const net = require('node:net')
const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')
const { attempt } = require('../core/attempt')
const { version } = require('../../package.json')
const { OF_ORPHANS, VERSION, familyOf, lockName, socketName } = require('../core/orphan')
const { loadAddon } = require('../native/addon')
const { startOf } = require('../native/proc')
const { serverDataOf } = require('./accepting/server-data')
const { printError } = require('./leaving/standard-streams')
const { Revival } = require('./revival')
/** @import { Handle } from '../core/internals' */

const DYING_MS = 500 // from the end of its channels to that of a process
const LOOK_MS = 20
const ORDER_MS = 5000 // a new primary that is silent for longer has died, too
const RECEIVE_MS = 5
/** Without the packages that the primary's are made with. @type {any} */
const FORMAT = {
  time: (/** @type {number} */ ms) => `${ms / 1000} s`,
  worker: (/** @type {{ slot: number, pid: number }} */ { slot, pid }) => `slot ${slot} (${pid})`
}
const LEAVE_ON = ['SIGTERM', 'SIGINT', 'SIGQUIT']

/**
 * @typedef {object} Settings
 * @property {{ fleet: string, home: string, app: string }} identity @property {number} timeoutMs
 * @property {string | null} journal @property {'pretty' | 'json' | 'silent'} log
 * @property {string} id in the environment of the processes that this worker starts
 * @property {number} generation
 * @property {number} primary its pid
 * @property {import('./revival').Program | null} revive what starts the next one; null: these workers do not
 */

class Orphan {
  /** Since when: ms since the epoch; null: it is none. @type {number | null} */
  #since = null
  /** @type {net.Server | null} */
  #server = null
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /** @type {Set<NodeJS.Timeout>} */
  #waits = new Set()
  #addon = loadAddon().addon // before the app can delete it
  #primary
  /** @type {Revival | null} */
  #revival = null

  /**
   * @param {object} of @param {Settings | null} of.settings null: it is not to become one
   * @param {import('./accepting/listen-hook').ListenHook} of.listenHook @param {() => boolean} of.isLeaving it drains
   * @param {(fd: number) => void} of.adopted the other end of this socket is a primary's
   * @param {(reason: string) => void} of.leave
   */
  constructor ({ settings, listenHook, isLeaving, adopted, leave }) {
    this.settings = settings
    this.listenHook = listenHook
    this.isLeaving = isLeaving
    this.adopted = adopted
    this.leave = leave
    this.#primary = settings?.primary ?? 0
    /** As the primary has assigned it. */
    this.slot = 0
    /** Left by the primary to the next one. @type {{ number: number, text: string } | null} */
    this.legacy = null
  }

  /** The channel to the primary has ended. @returns {boolean} false: this worker is to leave */
  begin () {
    if (!this.settings || !this.#addon || !this.listenHook.isOfOurs) return false
    // eslint-disable-next-line no-restricted-properties -- a time of day, for a journal
    const since = this.#since = Date.now()
    const until = performance.now() + DYING_MS
    const look = () => {
      if ((startOf(this.#primary) ?? null) === null) this.#serveOn(since)
      else if (performance.now() < until) this.#after(LOOK_MS, look)
      else this.#leave(null) // the app has cut the channel
    }
    look()
    return true
  }

  /** @param {string} signal from outside @returns {void} */
  onSignal (signal) {
    if (this.#since !== null && LEAVE_ON.includes(signal)) this.#leave(signal)
  }

  /** @param {number} since */
  #serveOn (since) {
    const { identity: { fleet }, timeoutMs, revive } = /** @type {Settings} */ (this.settings)
    this.#server = net.createServer({ pauseOnConnect: true }, socket => this.#meet(socket))
    this.#server.on('error', () => {}) // it serves on, and no primary finds it
    const family = familyOf(Number(process.geteuid?.()), fleet)
    this.#server.listen({ path: socketName(family, process.pid), exclusive: true }).unref()
    this.#timer = setTimeout(() => this.#leave('timeout'), timeoutMs)
    this.#say(since, 'worker.orphaned', { timeoutMs })
    if (revive === null) return
    this.#revival = new Revival(revive, lockName(family), (event, fields) => this.#say(since, event, fields))
    this.#revival.begin()
  }

  /** @param {net.Socket} socket which is not read as a stream: descriptors come along */
  #meet (socket) {
    const { fd } = /** @type {Handle} */ (socket._handle)
    const addon = /** @type {import('../native/addon').Addon} */ (this.#addon)
    socket.on('error', () => {})
    try {
      if (addon.peer(fd) !== process.geteuid?.()) return socket.destroy()
      addon.send(fd, JSON.stringify(this.#facts()), this.listenHook.open.map(({ listening }) => listening.fd))
    } catch {
      return socket.destroy() // too many addresses, or it has gone
    }
    const until = performance.now() + ORDER_MS
    const receive = () => {
      const message = this.#since === null || performance.now() > until ? null : attempt(() => addon.receive(fd), null)
      if (message === undefined) return this.#after(RECEIVE_MS, receive)
      socket.destroy()
      if (message === null) return
      const { adopt, leave } = attempt(() => JSON.parse(message.text), null) ?? {}
      if (adopt !== undefined && message.descriptors.length === 1) this.#goOn(adopt, message.descriptors[0])
      else if (leave) this.#leave('replaced')
    }
    receive()
  }

  #facts () {
    const { identity, id, generation } = /** @type {Settings} */ (this.settings)
    return {
      v: VERSION,
      recycle: version,
      ...identity,
      pid: process.pid,
      slot: this.slot,
      generation,
      ...this.isLeaving() && { isLeaving: true },
      ...this.legacy && { legacy: this.legacy },
      id,
      since: this.#since,
      oldPid: this.#primary,
      sockets: this.listenHook.open.map(({ key, request: { query }, server }) =>
        ({ key, query, data: serverDataOf(server) }))
    }
  }

  /** @param {number} primary its pid @param {number} fd */
  #goOn (primary, fd) {
    this.end()
    this.#primary = primary
    this.adopted(fd)
  }

  /** No primary has adopted it. @param {string | null} why null: it is not to be told */
  #leave (why) {
    const since = this.#since
    this.end()
    if (why !== null && since !== null) this.#say(since, 'worker.unadopted', { why })
    this.leave('orphaned')
  }

  /** A primary has this worker, or none is to. */
  end () {
    this.#since = null
    for (const wait of this.#waits) clearTimeout(wait)
    this.#waits.clear()
    clearTimeout(this.#timer)
    this.#server?.close()
    this.#server = null
    this.#revival?.end()
    this.#revival = null
  }

  /** @param {number} ms @param {() => void} then */
  #after (ms, then) {
    const wait = setTimeout(() => {
      this.#waits.delete(wait)
      then()
    }, ms).unref()
    this.#waits.add(wait)
  }

  /**
   * In the log and the journal, which have no other writer now.
   * @param {number} since @param {string} event @param {Record<string, unknown>} fields
   */
  #say (since, event, fields) {
    const { journal, log } = /** @type {Settings} */ (this.settings)
    const about = { slot: this.slot, pid: process.pid, oldPid: this.#primary, ...fields }
    const t = Date.now() // eslint-disable-line no-restricted-properties -- a time of day, for people and other journals
    const sentence = OF_ORPHANS[event].sentence?.(about, FORMAT)
    if (log === 'json') {
      const line = { level: 40, time: t, name: 'recycle', primary: this.#primary, event, ...about, msg: sentence }
      printError(`${JSON.stringify(line)}\n`)
    } else if (log === 'pretty') printError(`recycle: ${sentence}\n`)
    if (journal !== null) append(journal, JSON.stringify({ v: 1, t, event, ...about, since }))
  }
}

/** @param {string} file @param {string} line */
function append (file, line) {
  try {
    const { size } = fs.statSync(file)
    const fd = fs.openSync(file, 'a+')
    const last = Buffer.alloc(1)
    if (size > 0) fs.readSync(fd, last, 0, 1, size - 1)
    fs.writeSync(fd, `${size > 0 && last[0] !== 0x0a ? '\n' : ''}${line}\n`) // the primary may have died within a line
    fs.closeSync(fd)
  } catch {} // it is not this user's, or the disk is full
}

module.exports = { Orphan }
