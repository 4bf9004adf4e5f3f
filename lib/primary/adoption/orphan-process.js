'use strict'

/**
 * An orphan (lib/worker/orphan.js) as the primary that adopts it sees it. To Node, and so to cluster, it is a child
 * process like any other; but it is no child of this process: its end is seen in /proc.
 */

const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const { setTimeout: sleep } = require('node:timers/promises')
const { VERSION, socketName } = require('../../core/orphan')
const { ORPHAN } = require('../../tables/message')
const { signalTo, startForeign } = require('../../native/foreign-child')
const { isStill, startOf } = require('../../native/proc')
/** @import { ChildProcess } from 'node:child_process' */
/** @import { Handle } from '../../core/internals' */
/** @import { OrphanFacts } from '../../tables/message' */
/** @import { Addon } from '../../native/addon' */
/** @import { OnExit, SpawnOptions } from '../../native/foreign-child' */

const ANSWER_MS = 2000 // its event loop may be busy
const RECEIVE_MS = 2
const LOOK_MS = 250
const DYING_MS = 10 // between two looks once its channel has ended
/** Why it is not adopted: its event loop is blocked, or it is stopped, so it may answer later. */
const SILENT = `it has not answered within ${ANSWER_MS} ms, and is asked again`
const CLOSED = 'it has closed the connection, and is asked again'

class OrphanProcess {
  /** As startOf(). @type {number | null | undefined} */
  #startedAt

  /**
   * @param {Addon} addon @param {net.Socket} socket to it, which is not read as a stream @param {OrphanFacts} facts
   * @param {number[]} descriptors of its listening sockets, in their order
   */
  constructor (addon, socket, facts, descriptors) {
    this.addon = addon
    this.socket = socket
    this.facts = facts
    this.descriptors = descriptors
    this.#startedAt = startOf(facts.pid)
  }

  /**
   * @param {Addon} addon @param {string} family @param {number} pid
   * @returns {Promise<OrphanProcess | string | null>} why it cannot be adopted; null: it has ended
   */
  static async find (addon, family, pid) {
    const socket = await connect(socketName(family, pid))
    if (socket === null) return null
    const { fd } = /** @type {Handle} */ (socket._handle)
    const message = addon.peer(fd) === process.geteuid?.() ? await receive(addon, fd) : 'it is another user\'s'
    if (message === null || typeof message === 'string') {
      socket.destroy()
      if (message !== null) return message
      await sleep(DYING_MS)
      return startOf(pid) === null ? null : CLOSED
    }
    const facts = factsIn(message.text)
    const why = typeof facts === 'string'
      ? facts
      : facts.pid !== pid || facts.sockets.length !== message.descriptors.length ? 'it has not sent what it says' : null
    if (typeof facts !== 'string' && why === null) return new OrphanProcess(addon, socket, facts, message.descriptors)
    for (const descriptor of message.descriptors) fs.closeSync(descriptor)
    socket.destroy()
    return String(why)
  }

  /** The orphan is another fleet's. */
  leave () {
    for (const descriptor of this.descriptors) fs.closeSync(descriptor)
    this.socket.destroy()
  }

  /** Runs a function that starts one process by cluster: this orphan. @template T @param {() => T} start */
  adoptBy (start) {
    return startForeign((child, options, onexit) => ({
      pid: this.facts.pid,
      spawn: () => this.#join(child, options.stdio, onexit),
      kill: signal => this.#kill(signal)
    }), start)
  }

  /** The worker is to leave: no channel to it is made. */
  dismiss () {
    try {
      this.#tell({ leave: true }, [])
    } catch {} // it has ended
    this.socket.destroy()
  }

  /**
   * @param {ChildProcess} child @param {SpawnOptions['stdio']} stdio @param {OnExit} onexit
   */
  #join (child, stdio, onexit) {
    try {
      for (const { type, handle, ipc } of stdio) {
        if (type !== 'pipe' && type !== 'overlapped') continue // it has the stdout and stderr that it was started with
        const [ours, theirs] = this.addon.socketpair()
        handle.open(ours)
        try {
          if (ipc) this.#tell({ adopt: process.pid }, [theirs])
        } finally {
          fs.closeSync(theirs)
        }
      }
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).errno ?? -os.constants.errno.EINVAL
    } finally {
      this.socket.destroy()
    }
    this.#watch(child, onexit)
    return 0
  }

  /** @param {ChildProcess} child @param {OnExit} onexit */
  #watch (child, onexit) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    const look = () => {
      if (this.#isAlive) {
        timer = setTimeout(look, child.connected ? LOOK_MS : DYING_MS)
      } else {
        child.removeListener('disconnect', lookNow)
        onexit(0, 'unknown') // its parent alone is told how
      }
    }
    const lookNow = () => {
      clearTimeout(timer)
      look()
    }
    child.once('disconnect', lookNow)
    timer = setTimeout(look, LOOK_MS)
  }

  /** @param {{ adopt: number } | { leave: true }} order @param {number[]} descriptors */
  #tell (order, descriptors) {
    this.addon.send(/** @type {Handle} */ (this.socket._handle).fd, JSON.stringify(order), descriptors)
  }

  get #isAlive () {
    return isStill(this.facts.pid, this.#startedAt)
  }

  /** @param {number} signal @returns {number} 0 or an errno */
  #kill (signal) {
    return this.#isAlive ? signalTo(this.facts.pid, signal) : -os.constants.errno.ESRCH
  }
}

/** @param {string} path @returns {Promise<net.Socket | null>} null: nothing listens there */
function connect (path) {
  const socket = new net.Socket()
  socket.pause() // it is never read here: descriptors would be lost
  return new Promise(resolve => {
    socket.on('error', () => resolve(null)).once('connect', () => resolve(socket)).connect(path)
  })
}

/**
 * @param {Addon} addon @param {number} fd
 * @returns {Promise<{ text: string, descriptors: number[] } | string | null>} why there is none; null: the other end is
 *   closed
 */
async function receive (addon, fd) {
  for (let ms = 0; ms < ANSWER_MS; ms += RECEIVE_MS, await sleep(RECEIVE_MS)) {
    try {
      const message = addon.receive(fd)
      if (message !== undefined) return message
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }
  return SILENT
}

/** @param {string} text @returns {OrphanFacts | string} why they cannot be read */
function factsIn (text) {
  try {
    const facts = JSON.parse(text)
    if (facts?.v !== VERSION) return `it is of recycle ${String(facts?.recycle).slice(0, 40)}, which says it otherwise`
    const flaw = ORPHAN(facts)
    return flaw === null ? facts : `what it says of itself is wrong: ${flaw.at} is not ${flaw.accepts}`
  } catch {
    return 'what it says of itself is no JSON'
  }
}

module.exports = { CLOSED, OrphanProcess, SILENT }
