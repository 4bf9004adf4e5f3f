'use strict'

/**
 * The supervisors that are compared. Each runs as `node <file> <app> <workers> <budget in bytes> [more]`, with PORT and
 * ROSTER in its environment, until SIGTERM. None reports what it does; the bench watches its workers from outside
 * (../support/roster.js).
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const elastic = require('./elastic')

/** @type {Record<string, { file: string, more?: string, needs?: string, recycles?: boolean }>} */
const PEERS = {
  bare: { file: 'bare.js', recycles: false },
  recycle: { file: 'recycle.js' },
  'recycle --no-handoff': { file: 'recycle.js', more: '{"handoff":false}' },
  'recycle-reload': { file: 'recycle.js', more: 'reload' },
  experiment: { file: 'experiment.js' },
  'blog-post': { file: 'blog-post.js' },
  pm2: { file: 'pm2.js', needs: 'pm2' },
  'pm2-reload': { file: 'pm2.js', more: 'reload', needs: 'pm2' },
  'recycle-reload-forked': { file: 'recycle.js', more: 'reload-forked' },
  'recycle-once': { file: 'recycle.js', more: 'once' },
  'pm2-once': { file: 'pm2.js', more: 'once', needs: 'pm2' },
  'watt-reload': { file: 'watt.js', recycles: false },
  recluster: { file: 'recluster.js', needs: 'recluster' },
  cluster: { file: 'refork.js', recycles: false },
  nginx: { file: 'nginx-plain.js', recycles: false }
}

/** Installs what these peers need, if it is not there. @param {string[]} names */
function install (names) {
  if (names.includes('watt-reload')) elastic.install(['watt'])
  const isMissing = names.some(name => PEERS[name].needs && !fs.existsSync(path.join(__dirname, 'node_modules', String(PEERS[name].needs), 'package.json')))
  if (!isMissing) return
  console.error('Installing the peers: npm ci --prefix bench/peers')
  const { status } = spawnSync('npm', ['ci', '--prefix', __dirname, '--ignore-scripts', '--no-audit', '--no-fund'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the peers could not be installed; recycle, experiment and blog-post need none of them')
}

module.exports = { PEERS, install }
