'use strict'

/**
 * Opens a control socket. Only its user may connect. A socket file that an ended fleet left behind is replaced; a file
 * of any other kind, or of another user, is not touched.
 *
 * When Node closes a unix socket, it deletes the file at the path that the socket was bound to, even if that is another
 * fleet's socket by then. So the socket is bound to a temporary name, linked to its public path, and the temporary name
 * is deleted; on a file system without hard links it is renamed. A socket at the public path therefore listens, or was
 * left behind.
 */

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { attempt } = require('../core/attempt')
const { RecycleError } = require('../core/errors')
const { fileId } = require('../core/file-id')
const { fleetAt } = require('./client')
const { controlFolders, socketIn, prepareFolder, checkLength, ourUid } = require('./socket-path')
/** @import { Server } from 'node:net' */

const PATIENCE_MS = 15_000
const WAIT_MS = 50
const LOCK_MS = 10_000 // longer than staleId() can take
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'] // by link()

/**
 * @param {Server} server
 * @param {{ name: string, control: string | null, predecessor?: number }} of the fleet; `control`: the path of
 *   --control; `predecessor`: the pid of a primary that is to be succeeded, and may listen there until then
 * @param {import('./socket-path').Env} [env]
 * @returns {Promise<{ path: string, publish: () => void, isThere: () => boolean, release: () => void }>} where it
 *   listens, with a predecessor from `publish` on; `isThere`: its file is; `release` deletes the file if it is still
 *   this server's; call it before closing the server
 * @throws {RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN; the server is closed then
 */
async function openControlSocket (server, { name, control, predecessor }, env = process.env) {
  const folder = control === null ? controlFolders(env)[0] : null
  const socket = folder === null ? path.resolve(/** @type {string} */ (control)) : socketIn(folder, name)
  const hidden = path.join(path.dirname(socket), `.${Math.floor(Math.random() * 36 ** 5).toString(36)}`)
  for (const one of [socket, hidden]) checkLength(one)
  if (folder !== null) prepareFolder(folder, socket)
  else if (!fs.existsSync(path.dirname(socket))) refuse(socket, 'there is no such folder')
  const error = await listen(server, hidden)
  if (error) refuse(socket, error.code === 'EACCES' ? 'permission denied' : error.message)
  const remedy = folder === null ? 'another path by --control' : 'a name of its own by --name'
  try {
    const id = fileId(fs.lstatSync(hidden))
    const opened = {
      path: socket, publish () {}, isThere: () => isOurs(socket, id), release: () => removeOurs(socket, id)
    }
    if (predecessor !== undefined) {
      await staleId(socket, remedy, predecessor)
      return { ...opened, publish: () => replace(socket, hidden) }
    }
    await publish(hidden, socket, remedy)
    remove(hidden)
    return opened
  } catch (error) {
    remove(hidden)
    server.close()
    throw error
  }
}

/** Takes the predecessor's place: some socket listens at any time. @param {string} socket @param {string} hidden */
function replace (socket, hidden) {
  try {
    fs.renameSync(hidden, socket)
  } catch {} // the folder is gone, and the fleet serves all the same
}

/** @param {Server} server @param {string} socket @returns {Promise<NodeJS.ErrnoException | null>} */
function listen (server, socket) {
  return new Promise(resolve => {
    const settle = (/** @type {NodeJS.ErrnoException | null} */ error) => {
      server.removeListener('error', settle)
      server.removeListener('listening', done)
      resolve(error)
    }
    const done = () => settle(null)
    server.once('error', settle).once('listening', done)
    const before = process.umask(0o177) // listen() creates the file before it returns: mode 0600 from the start
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
      const { code = '', message } = /** @type {NodeJS.ErrnoException} */ (error)
      const hasNoLinks = WITHOUT_LINKS.includes(code)
      if (code !== 'EEXIST' && !hasNoLinks) refuse(socket, message)
      if (await makeRoom(socket, remedy, () => { if (hasNoLinks) fs.renameSync(hidden, socket) }) && hasNoLinks) return
    }
  }
  refuse(socket, 'other fleets are opening it at the same time')
}

/**
 * Deletes a stale socket. Of several fleets that find it stale, one takes the lock and checks again, so that it does
 * not delete a socket that another fleet has opened meanwhile. Opening needs no lock where there are hard links: link()
 * is atomic.
 * @param {string} socket @param {string} remedy @param {() => void} then what needs the lock too
 * @returns {Promise<boolean>} false: another process has the lock
 * @throws {RecycleError} if it is not stale, or not this user's
 */
async function makeRoom (socket, remedy, then) {
  await staleId(socket, remedy)
  const lock = `${socket}.lock`
  const lockId = take(lock, socket)
  if (lockId === null) {
    await sleep(WAIT_MS)
    return false
  }
  try {
    const id = await staleId(socket, remedy)
    if (id !== null) removeOurs(socket, id)
    then()
    return true
  } finally {
    removeOurs(lock, lockId)
  }
}

/**
 * @param {string} socket @param {string} remedy @param {number} [predecessor] that may hold it
 * @returns {Promise<string | null>} file id of the stale socket; null: there is no file
 */
async function staleId (socket, remedy, predecessor) {
  const found = fs.lstatSync(socket, { throwIfNoEntry: false })
  if (!found) return null
  if (found.isSymbolicLink()) refuse(socket, 'it is a symbolic link')
  if (!found.isSocket()) refuse(socket, 'the path exists and is not a socket')
  if (found.uid !== ourUid()) refuse(socket, `it belongs to another user (uid ${found.uid})`)
  const holder = await fleetAt(socket)
  if (holder && holder.pid !== predecessor) {
    throw new RecycleError('RECYCLE_CONTROL_TAKEN', { path: socket, pid: holder.pid, remedy })
  }
  return fileId(found)
}

/** A time in the future means that the clock was set back. @param {number} t ms since the epoch */
function ageMs (t) {
  return Math.abs(Date.now() - t) // eslint-disable-line no-restricted-properties -- file times are by the wall clock
}

/**
 * @param {string} lock a folder @param {string} socket
 * @returns {string | null} file id of the lock; null: another process has it
 */
function take (lock, socket) {
  try {
    fs.mkdirSync(lock)
    return fileId(fs.lstatSync(lock))
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') refuse(socket, message)
    const found = fs.lstatSync(lock, { throwIfNoEntry: false })
    // The process that had the lock was killed
    if (found && ageMs(found.mtimeMs) > LOCK_MS) removeOurs(lock, fileId(found))
    return null
  }
}

/** @param {string} file @param {string} id @returns {boolean} false also where it is out of reach */
const isOurs = (file, id) => attempt(() => fileId(fs.lstatSync(file)) === id, false)

/** Deletes a socket or a lock, if the path still leads to this file. @param {string} file @param {string} id */
function removeOurs (file, id) {
  if (!isOurs(file, id)) return
  try {
    if (fs.lstatSync(file).isDirectory()) fs.rmdirSync(file)
    else fs.unlinkSync(file)
  } catch {} // the file or its folder is gone, or may no longer be written to: what is left is found to be stale
}

/** @param {string} socket @param {string} why @returns {never} @throws {RecycleError} */
function refuse (socket, why) {
  throw new RecycleError('RECYCLE_CONTROL', { path: socket, why })
}

/** @param {string} file there, or not any more; fs.rmSync() would load what removes folders */
function remove (file) {
  try {
    fs.unlinkSync(file)
  } catch {}
}

module.exports = { openControlSocket }
