'use strict'

/** A ChildProcess of Node's, and so a cluster worker, whose process is started by a handle of the caller's. */

const { ChildProcess } = require('node:child_process')

const { spawn: nodeSpawn } = ChildProcess.prototype

/**
 * @typedef {(code: number, signal: string) => void} OnExit
 * @typedef {{ stdio: { type: string, handle: import('../core/internals').Handle, ipc?: boolean, fd: number }[],
 *   envPairs: string[] }} SpawnOptions what is used of those of ChildProcess.prototype.spawn()
 */

/** Node calls these, too, which mean nothing without libuv. */
const OF_NO_LOOP = { close () {}, ref () {}, unref () {}, hasRef: () => true }

/**
 * @typedef {object} ForeignHandle a Process in the sense of Node; see lib/features/fork/forked-process.js
 * @property {number | undefined} pid
 * @property {() => number} spawn returns 0 or an errno
 * @property {(signal: number) => number} kill
 */

/**
 * Runs a function that starts one process by child_process or cluster: that one has the handle in place of Node's.
 * @template T
 * @param {(child: ChildProcess, options: SpawnOptions, onexit: OnExit) => ForeignHandle} makeHandle `options` of its
 *   spawn(), which goes on filling them in; `onexit`: to be called at its end
 * @param {() => T} start @returns {T}
 */
function startForeign (makeHandle, start) {
  const { spawn } = ChildProcess.prototype
  Object.assign(ChildProcess.prototype, {
    /** @this {ChildProcess} @param {SpawnOptions} options */
    spawn (options) {
      const { onexit } = this._handle
      release(this._handle)
      this._handle = Object.assign(makeHandle(this, options, /** @type {OnExit} */ (onexit)), OF_NO_LOOP)
      return Reflect.apply(spawn, this, [options])
    }
  })
  try {
    return start()
  } finally {
    Object.assign(ChildProcess.prototype, { spawn })
  }
}

/** @param {number} pid @param {number} signal @returns {number} 0 or an errno, as of a handle's kill() */
function signalTo (pid, signal) {
  try {
    process.kill(pid, signal)
    return 0
  } catch (error) {
    return /** @type {NodeJS.ErrnoException & { errno: number }} */ (error).errno
  }
}

/**
 * Node never frees a Process that was not spawned: its close() does nothing, and it would keep the ChildProcess, its
 * listeners, and so the worker. One whose program could not be executed can be closed. (A spawn that fails before libuv
 * forks would be cheaper. But from libuv 1.52 on, it takes the handle off the loop's list, and the close that follows
 * does so again: the list is destroyed.)
 * @param {import('../core/internals').ProcessHandle} process
 */
function release (process) {
  process.onexit = () => {} // Node calls it for what is not thrown, as EAGAIN
  try {
    Reflect.apply(nodeSpawn, { _handle: process },
      [{ file: '/dev/null/none', args: [], envPairs: [], stdio: 'ignore' }])
    process.close()
  } catch {} // ENOTDIR: Node has closed it
}

module.exports = { signalTo, startForeign }
