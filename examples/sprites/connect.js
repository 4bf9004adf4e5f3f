'use strict'

/**
 * Which hub a server has. SPRITES_HUB names it: the path of a unix socket, or redis://host:port. Without it, a server
 * that runs alone has one in its own process; in a fleet slot 0 starts one, which ends some seconds after the fleet.
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { Desktops } = require('./desktops')
const { HubClient } = require('./hub-client')
const { openHub, isRedis } = require('./hub')
const { localWire, socketWire } = require('./wires')

/** @param {NodeJS.ProcessEnv} env @returns {HubClient} */
function connectHub ({ SPRITES_HUB: address, RECYCLE_SLOT: slot, PORT: port = '3000' }) {
  if (address) return new HubClient(isRedis(address) ? require('./redis-wire').redisWire(address) : socketWire(address))
  if (!cluster.isWorker) return new HubClient(alone())
  const file = path.join(ownFolder(), `${port}.sock`)
  return new HubClient(socketWire(file, slot === '0' ? () => start(file) : undefined))
}

function alone () {
  const hub = openHub(new Desktops())
  setInterval(() => hub.desktops.expire(performance.now()), 1000).unref()
  return localWire(hub)
}

/**
 * In a process group of its own: Ctrl-C is for the fleet, whose workers need the hub until they have drained.
 *
 * @param {string} file
 */
function start (file) {
  spawn(process.execPath, [path.join(__dirname, 'hub.js'), '--until-unused', file], { detached: true, stdio: 'ignore' }).unref()
}

/** A folder for sockets that no other user can make first. */
function ownFolder () {
  const folder = path.join(process.env.XDG_RUNTIME_DIR ?? os.tmpdir(), `sprites-${os.userInfo().uid}`)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = fs.lstatSync(folder)
  if (uid !== os.userInfo().uid || (mode & 0o077) !== 0) throw new Error(`${folder} is not this user's alone`)
  return folder
}

module.exports = { connectHub }
