'use strict'

/**
 * The other primary's process, with what Channel needs of one: see WorkerProcess in ../workers/process.js. Node's IPC
 * channel joins the two, and carries sockets as well between different versions of Node.
 */

const { spawn } = require('node:child_process')
const { EventEmitter } = require('node:events')
const { setTimeout: delay } = require('node:timers/promises')
/** @import { Message } from '../../core/envelope' */
/** @import { WorkerProcess } from '../workers/process' */

/** In the environment of a successor: the pid of its predecessor. */
const VARIABLE = 'RECYCLE_PREDECESSOR'
const READ_MS = 1000 // of what it had sent before it exited

/**
 * The successor, as the predecessor sees it: it leads a session, so that no terminal's signal meant for the one reaches
 * the other.
 */
class SuccessorProcess extends EventEmitter {
  /** @param {import('./program').Program} program */
  constructor ({ node, args, cwd, env }) {
    super()
    const child = this.child = spawn(node, args, {
      cwd,
      env: { ...env, PWD: cwd, [VARIABLE]: String(process.pid) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true
    })
    const down = new Promise(resolve => child.once('disconnect', resolve))
    child.once('error',
      error => { if (child.pid === undefined) this.emit('exit', { code: null, signal: null, error: error.message }) })
    child.once('exit', async (code, signal) => {
      await Promise.race([down, delay(READ_MS, undefined, { ref: false })])
      this.emit('exit', { code, signal })
    })
    child.on('internalMessage',
      (/** @type {Message} */ message, /** @type {unknown} */ handle) => this.emit('message', message, handle))
    child.on('error', () => {}) // of a send to one that has just exited
  }

  get pid () {
    return this.child.pid ?? null
  }

  /** @type {WorkerProcess['send']} */
  send (message, handle, sent) {
    if (this.child.connected) this.child.send(message, handle, undefined, sent)
    else process.nextTick(sent, new Error('the new primary has exited'))
  }

  /** With everything that it has started: its workers are in its process group. */
  killAll () {
    try {
      if (this.pid !== null) process.kill(-this.pid, 'SIGKILL')
    } catch {} // none is left
  }

  /** This process may exit. */
  release () {
    if (this.child.connected) this.child.disconnect()
    this.child.unref()
  }
}

/** The predecessor, as the successor sees it: it has exited when the channel ends. */
class PredecessorProcess extends EventEmitter {
  /** This process has been started by one, and its channel is to that. */
  static isFound = false

  /** @returns {PredecessorProcess | null} null: this process has not been started by one */
  static find () {
    const pid = Number(process.env[VARIABLE])
    delete process.env[VARIABLE] // it is not for workers
    PredecessorProcess.isFound = pid > 0 && process.send !== undefined
    return PredecessorProcess.isFound ? new PredecessorProcess(pid) : null
  }

  /** @param {number} pid */
  constructor (pid) {
    super()
    this.pid = pid
    process.on('internalMessage',
      (/** @type {Message} */ message, /** @type {unknown} */ handle) => this.emit('message', message, handle))
    const gone = () => { this.emit('exit', { code: null, signal: null }) }
    if (process.connected) process.once('disconnect', gone)
    else setImmediate(gone) // before this process had booted
    process.channel?.ref()
  }

  /** @type {WorkerProcess['send']} */
  send (message, handle, sent) {
    if (process.connected) process.send?.(message, handle, undefined, sent)
    else process.nextTick(sent, new Error('the old primary has exited'))
  }

  /** This process may exit. */
  release () {
    process.channel?.unref()
  }
}

module.exports = { SuccessorProcess, PredecessorProcess }
