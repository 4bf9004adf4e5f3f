'use strict'

/**
 * Opens a control socket: nobody but its user may connect, what a fleet that is gone has left is taken over, and what is
 * somebody's is left alone.
 */

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { RecycleError } = require('../core/errors')
const { hail } = require('./client')
const { controlFolders, socketIn, prepareFolder, checkLength, ourUid } = require('./place')

const PATIENCE_MS = 15_000
const WAIT_MS = 50
const YOUNG_MS = 200
const LOCK_MS = 10_000 // longer than a look at the socket can take

/**
 * @param {import('node:net').Server} server
 * @param {{ name: string, control: string | null }} of the fleet; `control`: the path that was asked for
 * @param {import('./place').Env} [env]
 * @returns {Promise<string>} the path where it listens
 * @throws {RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN
 */
async function claim (server, { name, control }, env = process.env) {
  const folder = control === null ? controlFolders(env)[0] : null
  const socket = folder === null ? path.resolve(/** @type {string} */ (control)) : socketIn(folder, name)
  checkLength(socket)
  if (folder !== null) prepareFolder(folder, socket)
  else if (!fs.existsSync(path.dirname(socket))) throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: 'there is no such folder' })
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    const error = await listen(server, socket)
    if (error === null) return socket
    if (error.code !== 'EADDRINUSE') throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: error.code === 'EACCES' ? 'permission denied' : error.message })
    await makeRoom(socket, folder === null ? 'another path by --control' : 'a name of its own by --name')
  }
  throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: 'others open it at the same time' })
}

/**
 * @param {import('node:net').Server} server
 * @param {string} socket
 * @returns {Promise<NodeJS.ErrnoException | null>}
 */
function listen (server, socket) {
  return new Promise(resolve => {
    const settle = (/** @type {NodeJS.ErrnoException | null} */ error) => {
      server.removeListener('error', settle)
      server.removeListener('listening', done)
      resolve(error)
    }
    const done = () => settle(null)
    server.once('error', settle).once('listening', done)
    const before = process.umask(0o177) // it is 0600 from its first moment on; listen() makes it before it returns
    try {
      server.listen({ path: socket })
    } finally {
      process.umask(before)
    }
  })
}

/**
 * Takes a stale socket away. Of several who find it stale only one may, and it looks again: what the others have opened
 * meanwhile is not taken from them. Only taking away wants this lock; opening is the kernel's to decide.
 *
 * @param {string} socket
 * @param {string} remedy
 * @throws {RecycleError} where it is not stale, or not ours
 */
async function makeRoom (socket, remedy) {
  await check(socket, remedy)
  const lock = `${socket}.lock`
  if (!take(lock)) return sleep(WAIT_MS)
  try {
    if (await check(socket, remedy)) fs.unlinkSync(socket)
    else await sleep(WAIT_MS)
  } finally {
    fs.rmdirSync(lock)
  }
}

/**
 * @param {string} socket
 * @param {string} remedy
 * @returns {Promise<boolean>} it is there, and stale
 */
async function check (socket, remedy) {
  const refuse = (/** @type {string} */ why) => { throw new RecycleError('RECYCLE_CONTROL', { path: socket, why }) }
  const found = fs.lstatSync(socket, { throwIfNoEntry: false })
  if (!found) return false
  if (found.isSymbolicLink()) refuse('it is a symbolic link')
  if (!found.isSocket()) refuse('it is there already, and is no socket')
  if (found.uid !== ourUid()) refuse(`it belongs to another user (uid ${found.uid})`)
  const holder = await hail(socket)
  if (holder) throw new RecycleError('RECYCLE_CONTROL_TAKEN', { path: socket, pid: holder.pid, remedy })
  return ageMs(found.ctimeMs) > YOUNG_MS // a socket is there for an instant before somebody listens on it
}

/** How old a file is. Of one that is said to be of the future the clock was set back since. @param {number} t its time, ms since the epoch */
function ageMs (t) {
  return Math.abs(Date.now() - t) // eslint-disable-line no-restricted-properties -- the times of files are of the wall clock
}

/** @param {string} lock a folder @returns {boolean} it is ours */
function take (lock) {
  try {
    fs.mkdirSync(lock)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    const since = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs
    if (since !== undefined && ageMs(since) > LOCK_MS) fs.rmSync(lock, { recursive: true, force: true }) // of somebody who was killed while he had it
    return false
  }
}

module.exports = { claim }
