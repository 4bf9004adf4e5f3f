'use strict'

/**
 * The supervisors that give an app more workers when the load grows, each with its defaults and at most so many
 * workers.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { CLI, MODULES, checkNode, wattProject } = require('../watt-project')

/**
 * @typedef {object} Peer
 * @property {(how: { app: string, port: number, max: number }) => string[]} command arguments of node
 * @property {boolean} [isInstalled] by install()
 * @property {number} graceMs a worker's first time in which its load does not count
 */

/** @type {Record<string, Peer>} */
const PEERS = {
  large: { command: ({ app, max }) => recycle(app, max), graceMs: 0 },
  recycle: { command: ({ app, max }) => recycle(app, `1..${max}`), graceMs: 0 },
  watt: { command: ({ app, port, max }) => [CLI, 'start', wattProject({ app, port, workers: { dynamic: true, minimum: 1, maximum: max, total: max } })], isInstalled: true, graceMs: 30_000 },
  pm2: { command: ({ app, max }) => [path.join(__dirname, 'pm2.js'), app, String(max), MODULES], isInstalled: true, graceMs: 0 }
}

/** @param {string} app @param {string | number} workers */
function recycle (app, workers) {
  return [path.join(__dirname, '..', '..', '..', 'bin', 'recycle.js'), '--workers', String(workers), '--control', 'none', '--log', 'silent', app]
}

/** @param {string[]} names @throws {Error} what one of them cannot run on */
function install (names) {
  if (names.includes('watt')) checkNode()
  if (!names.some(name => PEERS[name].isInstalled) || fs.existsSync(path.join(MODULES, 'node_modules', 'wattpm'))) return
  console.error('Installing Watt and pm2')
  fs.mkdirSync(MODULES, { recursive: true })
  fs.copyFileSync(path.join(__dirname, 'package.json'), path.join(MODULES, 'package.json'))
  const { status } = spawnSync('npm', ['install', '--prefix', MODULES, '--ignore-scripts', '--no-audit', '--no-fund'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the peers could not be installed; large and recycle need none of them')
}

module.exports = { PEERS, install }
