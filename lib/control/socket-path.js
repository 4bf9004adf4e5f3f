'use strict'

/**
 * The paths of control sockets: one per fleet, <name>.sock, in a folder that belongs to the user alone.
 *
 *     $XDG_RUNTIME_DIR/recycle    if $XDG_RUNTIME_DIR is a folder of this user
 *     /tmp/recycle-<uid>          else: services, sudo and cron have no XDG_RUNTIME_DIR
 *
 * A fleet opens its socket in the first of them. A client looks in both, because the fleet may have been started in
 * another environment. RECYCLE_CONTROL_DIR names one folder instead of both.
 */

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError } = require('../core/errors')
const { distrust } = require('../core/folder-trust')

const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103 // of a unix socket; a longer path may be truncated
const EXTENSION = '.sock'

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env @returns {string[]} the folders; sockets are opened in the first */
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

/** @param {Env} env @returns {string[]} the folders that exist and are safe */
function trustedFolders (env) {
  return controlFolders(env).filter(folder => fs.existsSync(folder) && distrustIfThere(folder) === null)
}

/** @param {Env} env @returns {string[]} for each other folder, why it is ignored */
function distrusted (env) {
  return controlFolders(env).map(distrustIfThere).filter(why => why !== null)
}

/** @param {Env} env @returns {string[]} the paths of all sockets, by name; some may be stale */
function allSockets (env) {
  return trustedFolders(env).flatMap(folder => filesIn(folder)
    .filter(file => file.endsWith(EXTENSION))
    .sort()
    .map(file => path.join(folder, file)))
}

/**
 * Sockets of other users, for root, which may open them; none of a folder in which others than its owner could write.
 *
 * @param {Env} env
 * @returns {string[]}
 */
function socketsOfOthers (env) {
  if (ourUid() !== 0 || env.RECYCLE_CONTROL_DIR) return []
  const named = filesIn('/tmp').flatMap(file => /^recycle-(\d+)$/.exec(file) ?? []).filter(part => /^\d+$/.test(part)).map(uid => ({ folder: `/tmp/recycle-${uid}`, uid: Number(uid) }))
  const running = filesIn('/run/user').filter(uid => /^\d+$/.test(uid)).map(uid => ({ folder: `/run/user/${uid}/recycle`, uid: Number(uid) }))
  return [...named, ...running].filter(({ folder, uid }) => {
    const stat = uid === 0 ? undefined : fs.lstatSync(folder, { throwIfNoEntry: false })
    return stat !== undefined && distrust(folder, stat, uid) === null
  }).flatMap(({ folder }) =>
    filesIn(folder).filter(file => file.endsWith(EXTENSION)).sort().map(file => path.join(folder, file)))
}

/** @param {string} folder */
function filesIn (folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return [] // deleted meanwhile, or not readable
  }
}

/** @param {string} socket @returns {string} the name of the fleet */
function nameBy (socket) {
  return path.basename(socket, EXTENSION)
}

/**
 * Creates the folder of the sockets, or checks that no other user can write to it.
 *
 * @param {string} folder
 * @param {string} socket to be opened in it, for the error
 * @throws {RecycleError} RECYCLE_CONTROL
 */
function prepareFolder (folder, socket) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: message })
  }
  const why = distrustIfThere(folder)
  if (why !== null) throw new RecycleError('RECYCLE_CONTROL', { path: socket, why })
}

/**
 * Whether another user could have put a socket into the folder. Fleets open no socket there, and clients ignore it.
 *
 * @param {string} folder
 * @returns {string | null} why the folder is not safe; null: it is, or it does not exist
 */
function distrustIfThere (folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  return stat ? distrust(folder, stat, ourUid()) : null
}

/** @param {string} socket @throws {RecycleError} RECYCLE_CONTROL if the path is too long */
function checkLength (socket) {
  const length = Buffer.byteLength(socket)
  if (length <= MAX_PATH_BYTES) return
  throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: `the path has ${length} bytes; a unix socket allows ${MAX_PATH_BYTES}` })
}

/** @param {string} folder */
function isFolderOfOurs (folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && stat.isDirectory() && stat.uid === ourUid()
}

function ourUid () {
  return process.getuid?.() ?? 0
}

module.exports = {
  controlFolders,
  trustedFolders,
  distrusted,
  socketIn,
  allSockets,
  socketsOfOthers,
  nameBy,
  prepareFolder,
  checkLength,
  ourUid
}
