'use strict'

/** The supervisors that give an app more workers when the load grows, each with its defaults and at most so many workers. */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { temporaryFolder } = require('../../support/folder')

const MODULES = path.join(__dirname, '..', '..', '..', 'node_modules', '.cache', 'recycle-elastic')
const WATT_NEEDS = [22, 19]

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
  watt: { command: ({ app, port, max }) => [path.join(MODULES, 'node_modules', 'wattpm', 'bin', 'cli.js'), 'start', wattProject(app, port, max)], isInstalled: true, graceMs: 30_000 },
  pm2: { command: ({ app, max }) => [path.join(__dirname, 'pm2.js'), app, String(max), MODULES], isInstalled: true, graceMs: 0 }
}

/** @param {string} app @param {string | number} workers */
function recycle (app, workers) {
  return [path.join(__dirname, '..', '..', '..', 'bin', 'recycle.js'), '--workers', String(workers), '--control', 'none', '--log', 'silent', app]
}

/** @param {string} app @param {number} port @param {number} max @returns {string} its folder */
function wattProject (app, port, max) {
  const folder = temporaryFolder()
  const write = (/** @type {string} */ file, /** @type {any} */ content) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  write('package.json', { private: true })
  write('watt.json', {
    $schema: 'https://schemas.platformatic.dev/wattpm/3.67.0.json',
    server: { hostname: '127.0.0.1', port },
    logger: { level: 'error' },
    entrypoint: 'app',
    applications: [{ id: 'app', path: './app' }],
    workers: { dynamic: true, minimum: 1, maximum: max, total: max }
  })
  write('app/package.json', { name: 'app', private: true, main: 'index.js' })
  write('app/watt.json', { $schema: 'https://schemas.platformatic.dev/@platformatic/node/3.65.0.json' })
  write('app/index.js', `require(${JSON.stringify(app)})\n`)
  fs.symlinkSync(path.join(MODULES, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

/** @param {string[]} names @throws {Error} what one of them cannot run on */
function install (names) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (names.includes('watt') && (major < WATT_NEEDS[0] || (major === WATT_NEEDS[0] && minor < WATT_NEEDS[1]))) {
    throw new Error(`Watt needs Node.js ${WATT_NEEDS.join('.')} or later; this is ${process.versions.node}: run the bench with another, or without (--peers large,recycle,pm2)`)
  }
  if (!names.some(name => PEERS[name].isInstalled) || fs.existsSync(path.join(MODULES, 'node_modules', 'wattpm'))) return
  console.error('Installing Watt and pm2')
  fs.mkdirSync(MODULES, { recursive: true })
  fs.copyFileSync(path.join(__dirname, 'package.json'), path.join(MODULES, 'package.json'))
  const { status } = spawnSync('npm', ['install', '--prefix', MODULES, '--ignore-scripts', '--no-audit', '--no-fund'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the peers could not be installed; large and recycle need none of them')
}

module.exports = { PEERS, install }
