'use strict'

/**
 * The paths of control sockets: one per fleet, <name>.sock, in a folder that belongs to the user alone.
 *
 *     $XDG_RUNTIME_DIR/recycle    if $XDG_RUNTIME_DIR is a folder of this user
 *     /tmp/recycle-<uid>          else: services, sudo and cron have no XDG_RUNTIME_DIR
 *
 * A fleet opens its socket in the first of them. A client looks in both, because the fleet may have been started in
 * another environment, in /run/user/<uid>/recycle where $XDG_RUNTIME_DIR is not set, and in /run/<name>, which systemd
 * makes for a service of that name (`recycle unit`). RECYCLE_CONTROL_DIR names one folder instead. For a client that is
 * root it may be another user's, as may be that of a service.
 */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { RecycleError } = require('../core/errors')
const { distrust } = require('../core/folder-trust')

const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103 // of a unix socket; a longer path may be truncated
const EXTENSION = '.sock'
const OF_SERVICES = '/run'

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env @returns {string[]} the folders; sockets are opened in the first */
function controlFolders (env) {
  if (env.RECYCLE_CONTROL_DIR) return [path.resolve(env.RECYCLE_CONTROL_DIR)]
  const shared = `/tmp/recycle-${ourUid()}`
  const own = env.XDG_RUNTIME_DIR
  return own && path.isAbsolute(own) && isFolderOfOurs(own) ? [path.join(own, 'recycle'), shared] : [shared]
}

/** @param {string} name of a fleet @param {string} folder */
const socketIn = (folder, name) => path.join(folder, `${name}${EXTENSION}`)

/**
 * @param {{ name: string, control: string | null }} of a fleet; `control`: the path of --control @param {Env} env
 * @returns {string} what tells it from the others of this user, also where it is started in another environment
 */
function fleetKey ({ name, control }, env) {
  if (control !== null) return path.resolve(control)
  return env.RECYCLE_CONTROL_DIR ? socketIn(path.resolve(env.RECYCLE_CONTROL_DIR), name) : name
}

/** @typedef {{ folder: string, uid: number | null }} Place `uid`: the one user that may write there; null: any */

/**
 * @param {Env} env @param {{ ofAll?: boolean }} [how] `ofAll`: for root, those of other users too
 * @returns {Place[]} where a client looks
 */
function places (env, { ofAll = false } = {}) {
  const uid = ourUid()
  const own = controlFolders(env)
  if (env.RECYCLE_CONTROL_DIR) return [{ folder: own[0], uid: uid === 0 ? null : uid }]
  const session = `/run/user/${uid}`
  if (own.length === 1 && isFolderOfOurs(session)) own.push(path.join(session, 'recycle'))
  const others = ofAll && uid === 0 ? placesOfOthers() : []
  return [...own.map(folder => ({ folder, uid })), ...placesOfServices(uid), ...others]
}

/** Root alone can make a folder there. @param {number} uid @returns {Place[]} */
function placesOfServices (uid) {
  return filesIn(OF_SERVICES).flatMap(name => {
    const folder = path.join(OF_SERVICES, name)
    const isOurs = uid === 0 || targetOf(folder)?.uid === uid
    return isOurs && fs.existsSync(socketIn(folder, name)) ? [{ folder, uid: uid === 0 ? null : uid }] : []
  })
}

/** @returns {Place[]} */
function placesOfOthers () {
  const uids = (/** @type {string} */ folder, /** @type {RegExp} */ name) =>
    filesIn(folder).map(file => Number(name.exec(file)?.[1])).filter(uid => uid > 0)
  return [
    ...uids('/tmp', /^recycle-(\d+)$/).map(uid => ({ folder: `/tmp/recycle-${uid}`, uid })),
    ...uids('/run/user', /^(\d+)$/).map(uid => ({ folder: `/run/user/${uid}/recycle`, uid }))
  ]
}

/** @param {Env} env @returns {string[]} the folders in which a client looks, whether they exist or not */
const searchedFolders = env => places(env).map(({ folder }) => folder)

/** @param {Env} env @param {{ ofAll?: boolean }} [how] @returns {string[]} the folders that exist and are safe */
function trustedFolders (env, how) {
  return places(env, how).filter(({ folder, uid }) => fs.existsSync(folder) && distrustIfThere(folder, uid) === null)
    .map(({ folder }) => folder)
}

/** @param {Env} env @param {{ ofAll?: boolean }} [how] @returns {string[]} for each other folder, why it is ignored */
function distrusted (env, how) {
  return places(env, how).map(({ folder, uid }) => distrustIfThere(folder, uid)).filter(why => why !== null)
}

/** @param {Env} env @param {{ ofAll?: boolean }} [how] @returns {string[]} all sockets, by name; some may be stale */
function allSockets (env, how) {
  return trustedFolders(env, how).flatMap(folder => filesIn(folder)
    .filter(file => file.endsWith(EXTENSION))
    .sort()
    .map(file => path.join(folder, file)))
}

/** @param {string} folder */
const filesIn = folder => attempt(() => fs.readdirSync(folder), []) // deleted meanwhile, or not readable

/** @param {string} socket @returns {string} the name of the fleet */
const nameBy = socket => path.basename(socket, EXTENSION)

/**
 * Creates the folder of the sockets, or checks that no other user can write to it.
 * @param {string} folder @param {string} socket to be opened in it, for the error
 * @throws {RecycleError} RECYCLE_CONTROL
 */
function prepareFolder (folder, socket) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EEXIST') throw new RecycleError('RECYCLE_CONTROL', { path: socket, why: message })
  }
  const why = distrustIfThere(folder, ourUid())
  if (why !== null) throw new RecycleError('RECYCLE_CONTROL', { path: socket, why })
}

/**
 * Whether another user could have put a socket into the folder. Fleets open no socket there, and clients ignore it.
 * @param {string} folder @param {number | null} uid whose it must be; null: anyone's
 * @returns {string | null} why the folder is not safe; null: it is, or it does not exist
 */
function distrustIfThere (folder, uid) {
  const own = fs.lstatSync(folder, { throwIfNoEntry: false })
  if (!own) return null
  if (!own.isSymbolicLink()) return distrust(folder, own, uid ?? own.uid)
  // systemd makes /run/<name> a link, root's, into /run/private where a unit has a DynamicUser
  const target = targetOf(folder)
  if (target === null) return `${folder} is a symbolic link to what is not there, or cannot be read`
  const owner = uid ?? target.uid
  return own.uid === 0 || own.uid === owner ? distrust(folder, target, owner) : distrust(folder, own, owner)
}

/** @param {string} link */
const targetOf = link => attempt(() => fs.statSync(link), null)

/** @param {string} socket @throws {RecycleError} RECYCLE_CONTROL if the path is too long */
function checkLength (socket) {
  const length = Buffer.byteLength(socket)
  if (length <= MAX_PATH_BYTES) return
  throw new RecycleError('RECYCLE_CONTROL',
    { path: socket, why: `the path has ${length} bytes; a unix socket allows ${MAX_PATH_BYTES}` })
}

/** @param {string} folder */
function isFolderOfOurs (folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && stat.isDirectory() && stat.uid === ourUid()
}

const ourUid = () => process.getuid?.() ?? 0

module.exports = {
  controlFolders, searchedFolders, trustedFolders, distrusted, socketIn, fleetKey, allSockets, nameBy, prepareFolder,
  checkLength, ourUid
}
