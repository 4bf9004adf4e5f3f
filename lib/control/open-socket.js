'use strict'

/**
 * Opens a control socket: only its user may connect, what a fleet that is gone has left is taken over, and what belongs to
 * another is left alone.
 *
 * Node deletes the file of a unix socket as it closes it, by the path that it was bound to, even where another fleet's
 * socket is there by now. So a socket is bound to a name of its own, linked to the path where clients look for it, and that
 * first name is deleted. A socket under that path is therefore one that listens, or one that was left behind.
 */

const { randomInt } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { RecycleError } = require('../core/errors')
const { fileId } = require('../core/file-id')
const { hail } = require('./client')
const { controlFolders, socketIn, prepareFolder, checkLength, ourUid } = require('./socket-path')

const PATIENCE_MS = 15_000
const WAIT_MS = 50
const LOCK_MS = 10_000 // longer than a look at the socket can take

/**
 * @param {import('node:net').Server} server
 * @param {{ name: string, control: string | null }} of the fleet; `control`: the path that was asked for
 * @param {import('./socket-path').Env} [env]
 * @returns {Promise<{ path: string, release: () => void }>} where it listens; `release` deletes the file if it is still this
 *   server's, to be called before the server is closed
 * @throws {RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN; the server is closed then
 */
async function openControlSocket (server, { name, control }, env = process.env) {
  const folder = control === null ? controlFolders(env)[0] : null
  const socket = folder === null ? path.resolve(/** @type {string} */ (control)) : socketIn(folder, name)
  const hidden = path.join(path.dirname(socket), `.${randomInt(36 ** 5).toString(36)}`)
  for (const one of [socket, hidden]) checkLength(one)
  if (folder !== null) prepareFolder(folder, socket)
  else if (!fs.existsSync(path.dirname(socket))) refuse(socket, 'there is no such folder')
  const error = await listen(server, hidden)
  if (error) refuse(socket, error.code === 'EACCES' ? 'permission denied' : error.message)
  try {
    const id = fileId(fs.lstatSync(hidden))
    await publish(hidden, socket, folder === null ? 'another path by --control' : 'a name of its own by --name')
    return { path: socket, release: () => removeOurs(socket, id) }
  } catch (error) {
    server.close()
    throw error
  } finally {
    fs.rmSync(hidden, { force: true })
  }
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

/** @param {string} hidden @param {string} socket @param {string} remedy @throws {RecycleError} */
async function publish (hidden, socket, remedy) {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    try {
      return fs.linkSync(hidden, socket)
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
      if (code !== 'EEXIST') refuse(socket, message)
    }
    await makeRoom(socket, remedy)
  }
  refuse(socket, 'others open it at the same time')
}

/**
 * Takes a stale socket away. Of several processes that find it stale only one may, and it looks again: what the others have opened
 * meanwhile is not taken from them. Only taking away wants this lock; opening is the kernel's to decide.
 *
 * @param {string} socket
 * @param {string} remedy
 * @throws {RecycleError} where it is not stale, or not ours
 */
async function makeRoom (socket, remedy) {
  await staleId(socket, remedy)
  const lock = `${socket}.lock`
  const lockId = take(lock, socket)
  if (lockId === null) return sleep(WAIT_MS)
  try {
    const id = await staleId(socket, remedy)
    if (id !== null) removeOurs(socket, id)
  } finally {
    removeOurs(lock, lockId)
  }
}

/**
 * @param {string} socket
 * @param {string} remedy
 * @returns {Promise<string | null>} which one is there, and is stale; null: none is there
 */
async function staleId (socket, remedy) {
  const found = fs.lstatSync(socket, { throwIfNoEntry: false })
  if (!found) return null
  if (found.isSymbolicLink()) refuse(socket, 'it is a symbolic link')
  if (!found.isSocket()) refuse(socket, 'it is there already, and is no socket')
  if (found.uid !== ourUid()) refuse(socket, `it belongs to another user (uid ${found.uid})`)
  const holder = await hail(socket)
  if (holder) throw new RecycleError('RECYCLE_CONTROL_TAKEN', { path: socket, pid: holder.pid, remedy })
  return fileId(found)
}

/** How old a file is. Of one that is said to be of the future the clock was set back since. @param {number} t its time, ms since the epoch */
function ageMs (t) {
  return Math.abs(Date.now() - t) // eslint-disable-line no-restricted-properties -- the times of files are of the wall clock
}

/** @param {string} lock a folder @param {string} socket @returns {string | null} which one it is; null: it is taken */
function take (lock, socket) {
  try {
    fs.mkdirSync(lock)
    return fileId(fs.lstatSync(lock))
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') refuse(socket, message)
    const found = fs.lstatSync(lock, { throwIfNoEntry: false })
    if (found && ageMs(found.mtimeMs) > LOCK_MS) removeOurs(lock, fileId(found)) // its process was killed while it had it
    return null
  }
}

/** Deletes a socket or a lock if the path still leads to this one. @param {string} file @param {string} id */
function removeOurs (file, id) {
  try {
    const found = fs.lstatSync(file)
    if (fileId(found) !== id) return
    if (found.isDirectory()) fs.rmdirSync(file)
    else fs.unlinkSync(file)
  } catch {} // it is gone, or its folder is
}

/** @param {string} socket @param {string} why @returns {never} @throws {RecycleError} */
function refuse (socket, why) {
  throw new RecycleError('RECYCLE_CONTROL', { path: socket, why })
}

module.exports = { openControlSocket }
