'use strict'

/**
 * Builds the Next.js app beside this file, once: Next.js is installed in node_modules/.cache, since it is too large for
 * a dependency.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const PACKAGES = ['next@16', 'react@19', 'react-dom@19']
const SOURCE = path.join(__dirname, 'app')
const HOME = path.join(__dirname, '..', '..', 'node_modules', '.cache', 'recycle-next')
const OUT = path.join(HOME, '.next', 'standalone')

/** @returns {string} the folder of the standalone output */
function build () {
  if (fs.existsSync(path.join(OUT, 'prepared.js'))) return OUT
  const run = (/** @type {string} */ program, /** @type {string[]} */ args) => execFileSync(program, args, {
    cwd: HOME, stdio: 'inherit', env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_OPTIONS: '' }
  })
  fs.mkdirSync(HOME, { recursive: true })
  fs.writeFileSync(path.join(HOME, 'package.json'), '{ "private": true }\n')
  fs.cpSync(SOURCE, HOME, { recursive: true })
  run('npm', ['install', '--no-audit', '--no-fund', ...PACKAGES])
  run(process.execPath, [path.join('node_modules', 'next', 'dist', 'bin', 'next'), 'build'])
  fs.cpSync(path.join(HOME, '.next', 'static'), path.join(OUT, '.next', 'static'), { recursive: true })
  fs.copyFileSync(path.join(SOURCE, 'prepared.js'), path.join(OUT, 'prepared.js'))
  return OUT
}

module.exports = { build }
