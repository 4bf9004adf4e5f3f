'use strict'

/**
 * The primary's end of a mold, and of each process that it forks: to Node, and so to cluster, such a process is a
 * ChildProcess like any other. What uv_spawn does there with descriptors, pid and exit status is done here by the mold:
 * see mold.js.
 */

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const { count, flag, integer, optional, orNull, parse, record, text } = require('../../core/shape')
const { signalTo, startForeign } = require('../../native/foreign-child')
/** @import { ChildProcess } from 'node:child_process' */
/** @import { ValueOf } from '../../core/shape' */
/** @import { Addon } from '../../native/addon' */
/** @import { OnExit, SpawnOptions } from '../../native/foreign-child' */

const ENDED_MS = 3000 // from a process's SIGKILL until its mold says that it has ended
const LONGEST = 65_536 // characters of an answer

/** Answers of a mold: see mold.js. The app that it loads has the same descriptor, and may write anything to it. */
const ANSWER = record({
  held: optional(flag),
  frozen: optional(flag),
  refused: optional(text(LONGEST)),
  forked: optional(count),
  pid: optional(count),
  failed: optional(count),
  errno: optional(integer),
  ended: optional(count),
  code: optional(integer),
  signal: optional(orNull(text(20)))
})

/**
 * A mold as its primary sees it; the process itself is started by the caller, with `inherited` among its descriptors.
 * Emits `frozen`, when it has loaded the app, or `refused` with the reason; `silent`, where it does not say that a
 * process has ended.
 */
class MoldControl extends EventEmitter {
  /** @type {Map<number, Handle>} forked or being forked, by number */
  #handles = new Map()
  #lastNumber = 0
  /** The part of the next answer that has come. */
  #rest = ''
  #isRetiring = false
  isUp = true

  /** @param {Addon} addon */
  constructor (addon) {
    super()
    const [ours, theirs] = addon.socketpair()
    this.addon = addon
    this.ours = ours
    /** The mold's end, to be closed when the mold has been started. */
    this.inherited = theirs
    this.socket = new net.Socket({ fd: ours, readable: true, writable: false })
    this.socket.on('error', () => {}) // its close follows
    this.socket.on('close', () => this.#lose())
    this.socket.setEncoding('utf8').on('data', data => this.#read(String(data)))
  }

  started () {
    fs.closeSync(this.inherited)
  }

  /**
   * Runs a function that starts one process by child_process or cluster: that one is forked from the mold. Its pid
   * comes with the event `forked` (or is undefined for good, where `error` comes).
   * @template T @param {() => T} start @returns {T}
   */
  forkBy (start) {
    return startForeign((child, options, onexit) => new Handle(this, { child, options, onexit }), start)
  }

  /** The mold forks no more, and ends when the last process that it forked has. */
  retire () {
    if (!this.isUp || this.#isRetiring) return
    this.#isRetiring = true // told twice before it looks, it would read both as one message
    try {
      this.addon.send(this.ours, JSON.stringify({ retire: true }), [])
    } catch {} // it has just ended by itself: the socket's close follows
  }

  /**
   * @param {Handle} handle @param {Record<string, string>} env @param {number[]} descriptors @param {number[]} places
   */
  order (handle, env, descriptors, places) {
    if (!this.isUp) throw Object.assign(new Error('the mold is gone'), { errno: -os.constants.errno.ESRCH })
    const number = ++this.#lastNumber
    this.addon.send(this.ours, JSON.stringify({ fork: number, places, env }), descriptors)
    this.#handles.set(number, handle)
  }

  /** @param {string} data */
  #read (data) {
    const lines = (this.#rest + data).split('\n')
    this.#rest = /** @type {string} */ (lines.pop())
    if (this.#rest.length > LONGEST) lines.push(this.#rest)
    for (const line of lines) {
      const answer = parse(ANSWER, line)
      if (answer !== null && (answer.forked === undefined ||
        (this.#handles.has(answer.forked) && Number(answer.pid) > 1))) this.#hear(answer)
      else return this.#distrust(line)
    }
  }

  /** The app has written it: from here on nothing that comes can be told from an answer. @param {string} line */
  #distrust (line) {
    this.emit('refused', 'the app writes to the file descriptor by which its mold answers the primary ' +
      `(${JSON.stringify(line.slice(0, 40))}); it must leave alone what it has not opened`)
    this.socket.destroy()
  }

  /** @param {ValueOf<typeof ANSWER>} answer */
  #hear ({ held, frozen, refused, forked, pid = 0, failed, errno = 0, ended, code = 0, signal = null }) {
    if (held) return this.emit('held')
    if (frozen) return this.emit('frozen')
    if (refused !== undefined) return this.emit('refused', refused)
    const number = forked ?? failed ?? ended ?? 0
    const handle = this.#handles.get(number)
    if (forked === undefined) this.#handles.delete(number)
    if (forked !== undefined) handle?.begin(pid)
    else if (failed !== undefined) handle?.end(errno, '')
    else setImmediate(() => handle?.end(code, signal ?? '')) // what it has sent before is there by now
  }

  /** Copies that are not yet forked never will be; of the others nothing tells how they end but their channel. */
  #lose () {
    this.isUp = false
    for (const handle of this.#handles.values()) handle.orphan()
    this.#handles.clear()
  }
}

/** A Process in the sense of Node: ChildProcess calls these, and is told of the end by `onexit`. */
class Handle {
  /** @type {number | undefined} */
  pid
  /** Asked for before there was a process. @type {number | null} */
  #signal = null
  #hasEnded = false

  /**
   * @param {MoldControl} control
   * @param {{ child: ChildProcess, options: SpawnOptions, onexit: OnExit }} of see startForeign()
   */
  constructor (control, { child, options, onexit }) {
    this.control = control
    this.child = child
    this.options = options
    this.onexit = onexit
  }

  /** @returns {number} 0 or an errno */
  spawn () {
    const { stdio, envPairs } = this.options
    /** @type {number[]} */
    const descriptors = []
    /** @type {number[]} */
    const places = []
    /** @type {number[]} */
    const ends = []
    try {
      for (const [place, { type, handle, fd }] of stdio.entries()) {
        if (type === 'ignore') continue
        if (type === 'pipe' || type === 'overlapped') {
          const [ours, theirs] = this.control.addon.socketpair()
          ends.push(theirs)
          handle.open(ours)
        }
        descriptors.push(type === 'pipe' || type === 'overlapped' ? ends[ends.length - 1] : fd ?? handle.fd)
        places.push(place)
      }
      this.control.order(this, changes(envPairs), descriptors, places)
      return 0
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).errno ?? -os.constants.errno.EINVAL
    } finally {
      for (const end of ends) fs.closeSync(end)
    }
  }

  /** @param {number} pid */
  begin (pid) {
    this.pid = pid
    Object.assign(this.child, { pid })
    this.child.emit('forked')
    if (this.#signal !== null) this.kill(this.#signal)
  }

  /** @param {number} code negative: an errno, it could not be started @param {string} signal */
  end (code, signal) {
    this.#hasEnded = true
    this.onexit(code, signal)
  }

  /** The process's mold has died, and with it the one that is told how it ends. */
  orphan () {
    if (this.pid === undefined) return this.end(-os.constants.errno.ESRCH, '')
    const end = () => {
      this.kill(os.constants.signals.SIGKILL)
      this.end(0, 'unknown')
    }
    if (this.child.connected) this.child.once('disconnect', end)
    else end()
  }

  /** @param {number} signal @returns {number} 0 or an errno */
  kill (signal) {
    if (this.pid === undefined) {
      if (signal !== 0) this.#signal = signal
      return 0
    }
    if (signal === os.constants.signals.SIGKILL) {
      setTimeout(() => { if (!this.#hasEnded) this.control.emit('silent', ENDED_MS) }, ENDED_MS).unref()
    }
    return signalTo(this.pid, signal)
  }
}

/**
 * Variables that a process is given beside our own environment, which its mold has.
 * @param {string[]} pairs `NAME=value`
 */
function changes (pairs) {
  const entries = pairs.map(pair =>
    /** @type {[string, string]} */ ([pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  return Object.fromEntries(entries.filter(([name, value]) =>
    process.env[name] !== value && !name.startsWith('NODE_CHANNEL_')))
}

module.exports = { MoldControl }
