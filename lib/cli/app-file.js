'use strict'

/** Finds the app's file where the command line names a folder or none, and says what a TypeScript file needs. */

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { RecycleError, badUsage } = require('../core/errors')
const { asRecycle, refuseLauncher } = require('./launchers')
const { formatValue } = require('../core/format-value')
const { isScript } = require('../primary/workers/find-app')

const PLACES = ['index.mjs', 'server.js', 'server.mjs', 'app.js', 'app.mjs']
const PM2_CONFIG = /^(?:ecosystem|pm2|process)(?:\.config)?\.(?:c?js|json|ya?ml)$/
const LOADS = /^(?:--(?:import|require|loader|experimental-(?:loader|(?:strip|transform)-types))|-r)(?:=|$)/

/** @typedef {{ app: string, args: string[] }} Start */

/**
 * By the start script of a folder's package.json.
 * @param {string} folder
 * @returns {{ start: Start | null, why: string | null }} `start`: of the form `node file.js`; `why`: of another form
 */
function findStart (folder) {
  const script = read(folder)?.scripts?.start
  if (typeof script !== 'string') return { start: null, why: null }
  const [program, file, ...args] = script.trim().split(/\s+/)
  const named = `its start script is ${formatValue(script)}`
  if (program !== 'node') {
    return { start: null, why: `${named}, which does not have the form "node <file>": write recycle [options] <file>` }
  }
  if (/["'$&|;<>`\\]/.test(script) || file === undefined) {
    return { start: null, why: `${named}: write recycle [options] <file> with the file and the arguments of it` }
  }
  if (file.startsWith('-')) return { start: null, why: `${named}: write ${asRecycle([file, ...args])}` }
  const app = path.resolve(folder, file)
  return { start: { app: path.relative(process.cwd(), app) || app, args }, why: null }
}

/**
 * @param {string} app as given
 * @param {string[]} args @returns {Start} the same, unless it is a folder without a main file
 * @throws {RecycleError} RECYCLE_NO_APP, RECYCLE_BAD_USAGE
 */
function fileOf (app, args) {
  if (PM2_CONFIG.test(path.basename(app)) && fs.existsSync(app)) {
    throw badUsage(`${app} configures pm2: recycle unit --from ${app} --write <folder> writes a systemd service ` +
      'for each of its apps, with the flags of recycle that its keys stand for')
  }
  const program = programNamed(app)
  const sentence = refuseLauncher(program, args, app)
  if (sentence !== null) throw badUsage(sentence)
  if (program !== (realOf(app) ?? app)) return { app: program, args }
  if (app === '' || !isFolder(app) || resolves(app)) return { app, args }
  const { start, why } = findStart(app)
  if (start !== null) return { app: start.app, args: [...start.args, ...args] }
  const found = PLACES.filter(name => fs.existsSync(path.join(app, name)))
  const { main } = read(app) ?? {}
  const missing = typeof main === 'string'
    ? `its main, ${formatValue(main)}, is not there`
    : 'it is a folder without a main file or an index.js'
  const what = why ?? (found.length > 0
    ? `write the file: ${found.map(name => path.join(app, name)).join(' or ')}`
    : 'write the file that `node` would run')
  throw new RecycleError('RECYCLE_NO_APP', { app, why: `${missing}; ${what}` })
}

/**
 * A word that is no file is a package's program, as with npx: `recycle next start`.
 * @param {string} app as given
 * @returns {string} its file, without symbolic links and wrappers; the same where there is none
 */
function programNamed (app) {
  const given = realOf(app)
  if (given !== null) return unwrapped(given)
  if (!/^[\w.-]+$/.test(app)) return app
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const file = realOf(path.join(folder, 'node_modules', '.bin', app))
    if (file !== null) return unwrapped(file)
    if (folder === path.dirname(folder)) return app
  }
}

/** @param {string} file @returns {string | null} without symbolic links; null: there is none */
const realOf = file => attempt(() => fs.realpathSync(file), null)

/**
 * The program that a shell script of a package manager starts, as pnpm has them in .bin: the file that it names, else
 * by the package of this name.
 * @param {string} file @returns {string} the same where it is no such script
 */
function unwrapped (file) {
  const [name, folder] = [path.basename(file), path.dirname(file)]
  if (path.basename(folder) !== '.bin') return file
  const [, named] = /"\$basedir\/([^"]+)" +"\$@"/.exec(fs.readFileSync(file, 'utf8')) ?? []
  const { bin } = read(path.join(folder, '..', name)) ?? {}
  const program = named ?? path.join('..', name, bin?.[name] ?? String(bin))
  return realOf(path.join(folder, program)) ?? file
}

/**
 * A TypeScript file on a Node.js that does not strip types.
 * @param {string} app @param {readonly string[]} nodeOptions @throws {RecycleError} RECYCLE_BAD_USAGE
 */
function checkTypeScript (app, nodeOptions) {
  const { features } = /** @type {{ features: { typescript?: string | false } }} */ (/** @type {unknown} */ (process))
  if (!/\.[cm]?ts$/.test(app) || features.typescript || !fs.existsSync(app)) return
  if ([...nodeOptions, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].some(flag => LOADS.test(flag))) return
  if (!app.endsWith('.mts') && isScript(fs.readFileSync(app, 'utf8'))) return // no types in it
  const [major, minor] = process.versions.node.split('.').map(Number)
  const flag = features.typescript === false &&
    (major > 22 || (major === 22 && minor >= 6)) && major < 24 && !hasTsx(app)
    ? '--experimental-strip-types'
    : '--import=tsx'
  const install = flag === '--import=tsx' && !hasTsx(app) ? ', after npm install tsx' : ''
  throw badUsage(`${app} is TypeScript, which Node.js ${process.version} does not run by itself; ` +
    `write recycle --node-option=${flag} ${app}${install}`)
}

/** @param {string} app */
const hasTsx = app => attempt(() => Boolean(createRequire(path.resolve(app)).resolve('tsx')), false)

/** @param {string} folder @returns {Record<string, any> | null} its package.json */
const read = folder => attempt(() => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')), null)

/** @param {string} file */
const isFolder = file => attempt(() => fs.statSync(file).isDirectory(), false) // findApp() says why

/** @param {string} app */
const resolves = app => attempt(() => Boolean(require.resolve(path.resolve(app))), false)

module.exports = { findStart, fileOf, checkTypeScript }
