'use strict'

/** A folder in which `wattpm start` runs one app, as Watt's documentation has it. */

const fs = require('node:fs')
const path = require('node:path')
const { temporaryFolder } = require('../support/folder')

const WATT_NEEDS = [22, 19]
const MODULES = path.join(__dirname, '..', '..', 'node_modules', '.cache', 'recycle-elastic')
const CLI = path.join(MODULES, 'node_modules', 'wattpm', 'bin', 'cli.js')

/**
 * @param {{ app: string, port: number, workers: any }} how `app`: a file; `workers`: as in watt.json
 * @returns {string} the folder
 */
function wattProject ({ app, port, workers }) {
  const folder = temporaryFolder()
  const write = (/** @type {string} */ file, /** @type {any} */ content) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const isModule = app.endsWith('.mjs')
  write('package.json', { private: true })
  write('watt.json', {
    $schema: 'https://schemas.platformatic.dev/wattpm/3.67.0.json',
    server: { hostname: '127.0.0.1', port },
    logger: { level: 'error' },
    entrypoint: 'app',
    applications: [{ id: 'app', path: './app' }],
    workers
  })
  write('app/package.json', { name: 'app', private: true, main: 'index.js', ...isModule && { type: 'module' } })
  write('app/watt.json', { $schema: 'https://schemas.platformatic.dev/@platformatic/node/3.65.0.json' })
  write('app/index.js', isModule ? `import ${JSON.stringify(app)}\n` : `require(${JSON.stringify(app)})\n`)
  fs.symlinkSync(path.join(MODULES, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

/** @throws {Error} where this Node.js is too old for Watt */
function checkNode () {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > WATT_NEEDS[0] || (major === WATT_NEEDS[0] && minor >= WATT_NEEDS[1])) return
  throw new Error(`Watt needs Node.js ${WATT_NEEDS.join('.')} or later; this is ${process.versions.node}: run the bench with another, or leave watt out by --peers`)
}

module.exports = { wattProject, checkNode, CLI, MODULES }
