'use strict'

/**
 * Where control sockets live: one per fleet, <name>.sock, in a folder that is its user's alone.
 *
 *     $XDG_RUNTIME_DIR/recycle    where that is a folder of ours
 *     /tmp/recycle-<uid>          else: services, sudo and cron have no XDG_RUNTIME_DIR
 *
 * A fleet opens its socket in the first that there is; a client looks for it in both, for it may have been
 * started from elsewhere. RECYCLE_CONTROL_DIR names one folder in the place of both.
 */

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError } = require('../core/errors')

const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103 // of a unix socket; a longer one might be cut off
const EXTENSION = '.sock'

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env @returns {string[]} the folders, the one to open a socket in first */
function controlFolders (env) {
  if (env.RECYCLE_CONTROL_DIR) return [path.resolve(env.RECYCLE_CONTROL_DIR)]
  const shared = `/tmp/recycle-${ourUid()}`
  const own = env.XDG_RUNTIME_DIR
  return own && path.isAbsolute(own) && isFolderOfOurs(own) ? [path.join(own, 'recycle'), shared] : [shared]
}

/**
 * @param {string} name of a fleet
 * @param {string} folder
 */
function socketIn (folder, name) {
  return path.join(folder, `${name}${EXTENSION}`)
}

/** @param {Env} env @returns {string[]} those of the folders that are there and to be trusted */
function trustedFolders (env) {
  return controlFolders(env).filter(folder => fs.existsSync(folder) && distrust(folder) === null)
}

/** @param {Env} env @returns {string[]} why the others are passed over */
function distrusted (env) {
  return controlFolders(env).map(distrust).filter(why => why !== null)
}

/** @param {Env} env @returns {string[]} the paths of all sockets there are, by name; a fleet may listen there or not */
function allSockets (env) {
  return trustedFolders(env).flatMap(folder => filesIn(folder)
    .filter(file => file.endsWith(EXTENSION))
    .sort()
    .map(file => path.join(folder, file)))
}

/** @param {string} folder */
function filesIn (folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return [] // it has gone, or may not be read
  }
}

/** @param {string} socket @returns {string} the name of the fleet, by where its socket is */
function nameBy (socket) {
  return path.basename(socket, EXTENSION)
}

/**
 * Makes the folder of sockets, or makes sure that it is no other user's.
 *
 * @param {string} folder
 * @param {string} socket that is to be opened in it
 * @throws {RecycleError} RECYCLE_CONTROL
 */
function prepareFolder (folder, socket) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: message })
  }
  const why = distrust(folder)
  if (why !== null) throw new RecycleError('RECYCLE_CONTROL', { path: socket, why })
}

/**
 * What another user could have put into a folder is no fleet of ours, for the fleet that opens a socket there and for the client that
 * look for one.
 *
 * @param {string} folder
 * @returns {string | null} why its sockets are not to be trusted; null: they are, or there is no such folder
 */
function distrust (folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  if (!stat) return null
  if (stat.isSymbolicLink()) return `${folder} is a symbolic link`
  if (!stat.isDirectory()) return `${folder} is not a folder`
  if (stat.uid !== ourUid()) return `${folder} belongs to another user (uid ${stat.uid})`
  return (stat.mode & 0o022) === 0 ? null : `others may write to ${folder} (mode ${(stat.mode & 0o777).toString(8)})`
}

/** @param {string} socket @throws {RecycleError} RECYCLE_CONTROL where it is too long */
function checkLength (socket) {
  const length = Buffer.byteLength(socket)
  if (length <= MAX_PATH_BYTES) return
  throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: `its path has ${length} bytes, and the path of a unix socket has ${MAX_PATH_BYTES} at the most` })
}

/** @param {string} folder */
function isFolderOfOurs (folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && stat.isDirectory() && stat.uid === ourUid()
}

function ourUid () {
  return process.getuid?.() ?? 0
}

module.exports = { controlFolders, trustedFolders, distrusted, socketIn, allSockets, nameBy, prepareFolder, checkLength, ourUid }
