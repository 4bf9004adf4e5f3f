'use strict'

/** Finds and loads the config file. Only commands that start an app do so. */

const fs = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { attempt } = require('../core/attempt')
const importByNode = require('../native/import.cjs')
const { isObject, readConfig } = require('./config-contents')
const { RecycleError, badUsage } = require('../core/errors')
const { OPTIONS } = require('../tables/options')
const { traceOptions } = require('../tables/resolved-options')
const { machineFacts } = require('../primary/measuring/container')
/** @import { Config } from './config-contents' */

const TYPESCRIPT = ['.ts', '.mts', '.cts']
const ENDINGS = ['.js', '.cjs', '.mjs', ...TYPESCRIPT, '.json']
const PACKAGE = 'package.json'
const PLACES = [...ENDINGS.map(ending => `recycle.config${ending}`), PACKAGE]
const OPTION = '--config <file|none>'

/** @param {import('commander').Command} command */
function addConfig (command) {
  command.option(OPTION, `config file (default: ${PLACES.slice(0, -1).join(', ')} or "recycle" in package.json, ` +
    'from the working directory up to the nearest package.json)')
}

/**
 * Loads the config file that --config or RECYCLE_CONFIG names, or the one that a search finds. Paths in it are relative
 * to its folder, and are made absolute.
 * @param {string | undefined} named @param {Record<string, string | undefined>} env @returns {Promise<Config | null>}
 * @throws {RecycleError} RECYCLE_BAD_CONFIG
 */
async function loadConfig (named = undefined, env = process.env) {
  const file = named ?? env.RECYCLE_CONFIG
  if (file === 'none') return null
  const found = file ? checked(path.resolve(file), file) : search()
  if (found === null) return null
  const held = await read(found)
  return fromFolder(readConfig(held, shortened(found)), path.dirname(found))
}

/** @param {string} file @param {string} named as it is named @returns {string} the same @throws {RecycleError} */
function checked (file, named) {
  const refuse = (/** @type {string} */ why) => { throw new RecycleError('RECYCLE_BAD_CONFIG', { file: named, why }) }
  if (!ENDINGS.includes(path.extname(file))) refuse(`is of no known kind; its name ends in ${ENDINGS.join(', ')}`)
  if (!fs.existsSync(file)) refuse('does not exist')
  if (!fs.statSync(file).isFile()) refuse('is no file') // a read of a FIFO would block
  return file
}

/** @returns {string | null} the first config file that there is; null: there is none @throws {RecycleError} */
function search () {
  const files = searchedFolders().flatMap(folder => PLACES.map(place => path.join(folder, place)))
  return files.find(file => fs.existsSync(file) && checked(file, shortened(file)) && isConfig(file)) ?? null
}

/**
 * From the working directory up to the project's: the folders above may belong to other users, and config files are
 * programs.
 */
function searchedFolders () {
  const folders = [process.cwd()]
  for (let at = folders[0]; !fs.existsSync(path.join(at, PACKAGE)); folders.push(at)) {
    if (at === path.dirname(at)) return folders.slice(0, 1) // of no project
    at = path.dirname(at)
  }
  return folders
}

/** @param {string} file @returns {boolean} no package.json without a "recycle"; one that cannot be read is reported */
const isConfig = file => path.basename(file) !== PACKAGE ||
  attempt(() => Boolean(JSON.parse(fs.readFileSync(file, 'utf8')).recycle), true)

/** @param {string} file @returns {Promise<unknown>} what it holds; undefined: it is empty @throws {RecycleError} */
async function read (file) {
  try {
    const content = await fs.promises.readFile(file, 'utf8')
    if (path.basename(file) !== PACKAGE) return content.trim() === '' ? undefined : await load(file, content)
    const held = await load(file, content)
    if (held?.recycle) return held.recycle
  } catch (error) {
    throw asUnreadable(error)
  }
  throw new RecycleError('RECYCLE_BAD_CONFIG', { file: shortened(file), why: 'has no "recycle" in it' })
}

/** @param {unknown} error */
function asUnreadable (error) {
  const { code, path: file, message } = /** @type {NodeJS.ErrnoException} */ (error)
  if (error instanceof RecycleError || file === undefined) return error
  return new RecycleError('RECYCLE_BAD_CONFIG',
    { file: shortened(file), why: `cannot be read: ${code === 'EACCES' ? 'permission denied' : message}` })
}

/** @param {string} file @param {string} content */
async function load (file, content) {
  try {
    if (file.endsWith('.json')) return JSON.parse(content.replace(/^\uFEFF/, ''))
    const { default: held } = await orEmptyLoop(importByNode(pathToFileURL(file).href))
    const config = await orEmptyLoop(held)
    return isObject(config) ? { ...config } : config // read here: a getter may throw
  } catch (error) {
    if (TYPESCRIPT.includes(path.extname(file)) &&
    /** @type {NodeJS.ErrnoException} */ (error)?.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new RecycleError('RECYCLE_BAD_CONFIG', {
        file: shortened(file),
        why: `is TypeScript, which Node.js ${process.version} does not run by itself; ` +
          `write ${path.basename(file, path.extname(file))}.mjs`
      })
    }
    throw new RecycleError('RECYCLE_BAD_CONFIG',
      { file: shortened(file), why: `cannot be loaded: ${causeIn(file, error)}` })
  }
}

/**
 * Node exits with code 0, silently, if the only thing left is a promise that never settles.
 * @template T @param {Promise<T> | T} awaited @returns {Promise<T>}
 */
async function orEmptyLoop (awaited) {
  let onEmpty = () => {}
  const empty = /** @type {Promise<never>} */ (new Promise((resolve, reject) => {
    onEmpty = () => reject(new Error('it awaits what never settles'))
  }))
  process.once('beforeExit', onEmpty)
  try {
    return await Promise.race([awaited, empty])
  } finally {
    process.removeListener('beforeExit', onEmpty)
  }
}

/** A cause in one line, with the line number in the file if known. @param {string} file @param {unknown} thrown */
function causeIn (file, thrown) {
  const { message, stack } = thrown instanceof Error ? thrown : { message: String(thrown), stack: '' }
  const line = stack?.split(file)[1]?.match(/^:(\d+)/)?.[1]
  return `${message.replace(/\s+/g, ' ').trim()}${line ? ` (line ${line})` : ''}`
}

/** @param {Config} config @param {string} folder @returns {Config} */
function fromFolder ({ app, values, ...rest }, folder) {
  const files = OPTIONS.filter(({ name, kind }) =>
    kind.isFile && typeof values[name] === 'string' && values[name] !== '' && !kind.words?.includes(values[name]))
  return {
    ...rest,
    app: app === undefined ? undefined : path.resolve(folder, app),
    values: { ...values, ...Object.fromEntries(files.map(({ name }) => [name, path.resolve(folder, values[name])])) }
  }
}

/** The path relative to the working directory, unless that is longer than one step up. @param {string} file */
function shortened (file) {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith(path.join('..', '..')) ? file : relative
}

/**
 * The app to run: that of the command line with its arguments, else that of the config file with its own.
 * @param {string | undefined} app @param {string[]} args @param {Config | null} config
 * @param {string | null} [why] the start script of package.json does not name one
 * @returns {{ app: string, args: string[] }} @throws {RecycleError} RECYCLE_BAD_USAGE
 */
function pickApp (app, args, config, why = null) {
  if (app !== undefined) return { app, args }
  if (config?.app !== undefined) return { app: config.app, args: config.args }
  const where = config ? `${config.name} has no "app" either` : 'no config file was found'
  if (why !== null) throw badUsage(`no app was named, and package.json does not name one: ${why}`)
  throw badUsage(`no app was named, and ${where}; see recycle --help`)
}

/**
 * The options of a command line, the environment and a config file together.
 * @param {Record<string, unknown>} given by commander @param {Config | null} file
 */
function resolveAll (given, file) {
  return traceOptions(given, { env: process.env, file, ...machineFacts(), nameOf: ({ long }) => long })
}

module.exports = { addConfig, loadConfig, pickApp, resolveAll }
