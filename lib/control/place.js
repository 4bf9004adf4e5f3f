'use strict'

/**
 * Where control sockets live: one per fleet, <name>.sock, in a folder that is its user's alone.
 *
 *     $XDG_RUNTIME_DIR/recycle    where that is a folder of ours
 *     /tmp/recycle-<uid>          else: services, sudo and cron have no XDG_RUNTIME_DIR
 *
 * A fleet opens its socket in the first that there is; whoever looks for a fleet looks in both, for it may have been
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

/** @param {Env} env @returns {string[]} the paths of all sockets there are, by name; somebody may listen there or not */
function allSockets (env) {
  return controlFolders(env).filter(isFolderOfOurs).flatMap(folder => fs.readdirSync(folder)
    .filter(file => file.endsWith(EXTENSION))
    .sort()
    .map(file => path.join(folder, file)))
}

/** @param {string} socket @returns {string} the name of the fleet, by where its socket is */
function nameBy (socket) {
  return path.basename(socket, EXTENSION)
}

/**
 * Makes the folder of sockets, or makes sure that it is nobody else's.
 *
 * @param {string} folder
 * @param {string} socket that is to be opened in it
 * @throws {RecycleError} RECYCLE_CONTROL
 */
function prepareFolder (folder, socket) {
  const refuse = (/** @type {string} */ why) => { throw new RecycleError('RECYCLE_CONTROL', { path: socket, why }) }
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') refuse(message)
  }
  const stat = fs.lstatSync(folder)
  if (stat.isSymbolicLink()) refuse(`${folder} is a symbolic link`)
  if (!stat.isDirectory()) refuse(`${folder} is not a folder`)
  if (stat.uid !== ourUid()) refuse(`${folder} belongs to another user (uid ${stat.uid})`)
  if ((stat.mode & 0o022) !== 0) refuse(`others may write to ${folder} (mode ${(stat.mode & 0o777).toString(8)})`)
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

module.exports = { controlFolders, socketIn, allSockets, nameBy, prepareFolder, checkLength, ourUid }
