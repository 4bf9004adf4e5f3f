'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { RecycleError, badOption, badUsage } = require('../core/errors')
const { formatValue } = require('../core/format-value')
const { types } = require('../core/option-types')
const { OPTIONS, wordsOf } = require('../tables/options')
const { folderAsNamed } = require('../primary/workers/app-path')
const { findApp } = require('../primary/workers/find-app')
const { complain, complainOf, print } = require('./print')

/** `recycle unit [options] <app>`: a systemd service for this call. @param {import('commander').Command} program */
function addUnit (program) {
  const { flagOf } = require('./run')
  const { addConfig } = require('./config')
  const command = program.command('unit')
    .description('Prints a systemd service, and a socket, for this call of recycle.')
    .argument('[app]', 'as in recycle <app>; the config file may name it instead')
    .argument('[args...]', "the app's own arguments")
    .passThroughOptions()
    .option('--from <file>', "a unit for each app of pm2's ecosystem file, and what became of each of its keys")
    .option('--only <app>', 'with --from: this app alone')
    .option('--user <user>', 'the user of the service (default: you)')
    .option('--write <folder>', 'write the files there; the environment of an ecosystem file goes to <app>.env, ' +
      'for you alone to read')
    .option('--port <port>', 'the port of the app, for the socket, or <host>:<port> as it listens (default: $PORT)')
    .addHelpText('after', '\nWrite what is printed to the files that its comments name, then: ' +
      'systemctl daemon-reload; systemctl enable --now <unit>.')
  for (const option of OPTIONS) command.addOption(flagOf(option).hideHelp())
  addConfig(command)
  command.action(async (app, args, given) => {
    checkFrom(app, given)
    warnOfFlags(app, args, command)
    const services = given.from ? fromPm2(given) : [await ofCall(app, args, given)]
    if (given.write === undefined) printAll(services)
    else write(services, given.write)
    if (given.user === undefined && process.getuid?.() === 0) {
      complain('the service runs as root, as you are: --user <user> has it run as another one')
    }
    // No error: the user of an image may be made after its units
    if (given.user !== undefined && !isUser(given.user)) {
      complain(`there is no user ${formatValue(given.user)} here: until there is, systemd does not start the service ` +
        '(217/USER)')
    }
  })
}

/** @param {string | undefined} app @param {string[]} args of the app @param {import('commander').Command} command */
function warnOfFlags (app, args, command) {
  const { flagsAfterApp } = require('./habits')
  const options = command.options.map(({ short, long, flags }) => ({ short, long, flag: flags.replace(/^-\w, /, '') }))
  const misplaced = app === undefined ? null : flagsAfterApp(app, args, { call: 'recycle unit', options })
  if (misplaced) complainOf('recycle unit', { warning: 'flags-after-app', ...misplaced })
}

/** @param {Unit[]} services */
function printAll (services) {
  const text = services.map(({ units, next }) =>
    [...units.map(({ file, text }) => `# /etc/systemd/system/${file}\n${text}`), `# ${next}\n`].join('')).join('\n')
  for (const line of text.trimEnd().split('\n')) print(line)
}

/**
 * @typedef {{ from?: string, only?: string, user?: string, port?: string, write?: string } & Record<string, any>} Given
 * @typedef {{ units: { file: string, text: string }[], next: string }} Unit `next`: what makes systemd run it
 */

/** @param {Unit[]} services @param {string} folder @throws {RecycleError} RECYCLE_UNWRITABLE */
function write (services, folder) {
  const { makeFolder } = require('../native/make-folder')
  const files = services.flatMap(({ units }) => units)
    .map(({ file, text }) => ({ file: path.resolve(folder, file), text }))
  const there = files.find(({ file }) => fs.existsSync(file)) // nothing is written where one is there
  if (there) {
    throw new RecycleError('RECYCLE_UNWRITABLE',
      { file: there.file, why: 'there is such a file already: delete it first, or write to another folder' })
  }
  try {
    makeFolder(path.resolve(folder))
    for (const { file, text } of files) {
      fs.writeFileSync(file, text, { flag: 'wx', mode: file.endsWith('.env') ? 0o600 : 0o644 })
    }
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const asRoot = code === 'EACCES' ? '; as root it can, with --user <user> for the service' : ''
    throw new RecycleError('RECYCLE_UNWRITABLE', { file: path.resolve(folder), why: `${message}${asRoot}` })
  }
  for (const { file } of files) print(file)
  for (const { next } of services) print(next)
}

/** @param {string | undefined} app @param {Given} given @throws {RecycleError} RECYCLE_BAD_USAGE */
function checkFrom (app, { from, only, user, port, write, ...given }) {
  const refuse = (/** @type {string} */ sentence) => { throw badUsage(sentence) }
  if (from === undefined) return only === undefined ? undefined : refuse('--only is for --from <file>')
  if (app !== undefined) refuse(`recycle unit was given ${formatValue(app)} and --from; it takes one of them`)
  const [name] = Object.keys(require('./run').withoutDefaults(given))
  const flag = OPTIONS.find(option => option.name === name)?.long ?? `--${name}`
  if (name !== undefined) refuse(`${flag} has no place beside --from, whose file has the options of each app`)
}

/** @param {string} user */
function isUser (user) {
  const { spawnSync } = require('node:child_process')
  return /^\d+$/.test(user) || spawnSync('id', ['-u', '--', user]).status !== 1 // of any source that NSS knows
}

/** The app is found as by `recycle`. @param {string | undefined} app @param {string[]} args @param {Given} given */
async function ofCall (app, args, {
  user, port = process.env.PORT, config: named = process.env.RECYCLE_CONFIG, only, from, write, ...given
}) {
  const { fileOf, findStart } = require('./app-file')
  const { loadConfig, pickApp } = require('./config')
  const { withoutDefaults } = require('./run')
  const config = await loadConfig(named)
  const found = app === undefined && config?.app === undefined ? findStart('.') : null
  if (found?.start === null && found.why === null) {
    throw badUsage('recycle unit needs the app: recycle unit [options] <app> [args…], or --from <ecosystem file>')
  }
  const picked = found?.start ?? pickApp(app, args, config, found?.why)
  const toRun = fileOf(picked.app, picked.args)
  const folder = folderAsNamed(process.env.PWD)
  const file = path.resolve(folder, toRun.app)
  findApp(file)
  const flags = withoutDefaults(given)
  const name = flags.name ?? config?.values.name ?? require('../primary/fleet-name').nameOfApp(file)
  const others = OPTIONS.filter(option => option.name !== 'name').map(option => [option.name, flags[option.name]])
  const words = wordsOf({ name, ...Object.fromEntries(others) })
  if (named) words.push('--config', named === 'none' ? named : path.resolve(named))
  const timeouts = resolve(flags, config)
  return unit({ name, words, timeouts, app: file, args: toRun.args, folder, env: {}, user, port, write })
}

/** @param {Given} given @returns {Unit[]} */
function fromPm2 ({ from, only, user, port = process.env.PORT, write }) {
  const { callOf } = require('./pm2-app')
  const file = path.resolve(folderAsNamed(process.env.PWD), String(from))
  const apps = appsOf(file).map((app, i) => callOf(app, path.basename(String(app.script ?? `app-${i}`), '.js')))
  const chosen = apps.filter(({ name }) => only === undefined || name === only)
  if (chosen.length === 0) {
    const has = only === undefined ? 'no app' : `no app ${only}; it has ${apps.map(({ name }) => name).join(', ')}`
    throw badUsage(`${from} has ${has}`)
  }
  const ready = chosen.map(call => ({ ...call, ...placed(call, path.dirname(file)) })) // throws before it prints
  for (const { name, keys } of chosen) {
    for (const line of [`${name}:`, ...keys.map(({ key, became }) => `  ${key.padEnd(20)} ${became}`)]) complain(line)
  }
  return ready.map(({ given, ...call }) =>
    unit({ ...call, words: wordsOf(given), timeouts: resolve(given), user, port: call.env.PORT ?? port, write }))
}

/** @param {Record<string, unknown>} given @param {import('./config-contents').Config | null} [file] */
function resolve (given, file = null) {
  const { resolveOptions } = require('../tables/resolved-options')
  const { availableParallelism } = require('node:os')
  return resolveOptions(given, { file, parallelism: availableParallelism(), nameOf: ({ long }) => long })
}

/**
 * @param {import('./pm2-app').Call} call @param {string} folder of the ecosystem file
 * @returns {{ app: string, folder: string }} absolute
 * @throws {RecycleError} RECYCLE_BAD_USAGE where recycle cannot run it
 */
function placed ({ name, app, interpreter, folder: own }, folder) {
  const { answerToCommand } = require('./habits')
  const at = path.resolve(folder, own ?? '.')
  const refuse = (/** @type {string} */ why) => badUsage(
    `no unit for ${name}: ${why}; --only <app> prints that of another app of the file`)
  if (interpreter !== null) throw refuse(`its interpreter is ${formatValue(interpreter)}, and recycle runs Node.js`)
  try {
    findApp(path.resolve(at, app))
  } catch (error) {
    throw refuse(answerToCommand(app) ?? /** @type {Error} */ (error).message)
  }
  return { app: path.resolve(at, app), folder: at }
}

/** @param {string} file @returns {Record<string, unknown>[]} @throws {RecycleError} RECYCLE_BAD_CONFIG */
function appsOf (file) {
  try {
    const loaded = require(file)
    const apps = Array.isArray(loaded) ? loaded : loaded.apps ?? [loaded]
    if (!Array.isArray(apps) || apps.some(app => typeof app?.script !== 'string')) {
      throw new Error('has an app without a script')
    }
    return apps
  } catch (error) {
    const why = /** @type {Error} */ (error).message.split('\n', 1)[0]
    throw new RecycleError('RECYCLE_BAD_CONFIG', { file, why: why.startsWith('has ') ? why : `cannot be read: ${why}` })
  }
}

/**
 * The command by the name that it was called by: a link such as current/ leads elsewhere after the next deploy.
 * @param {string} bin
 */
function asCalled (bin) {
  return attempt(() => fs.realpathSync(process.argv[1]) === fs.realpathSync(bin) ? process.argv[1] : bin, bin)
}

/**
 * @param {object} call @param {string} call.name @param {string[]} call.words options on the command line
 * @param {ReturnType<typeof resolve>} call.timeouts
 * @param {string} call.app @param {string[]} call.args @param {string} call.folder
 * @param {Record<string, string>} call.env @param {string | undefined} call.user @param {string | undefined} call.port
 * @param {string | undefined} call.write folder of the files @returns {Unit}
 */
function unit ({ name, words, timeouts, app, args, folder, env, user, port, write }) {
  if (port && !(types.address().read(port)?.port > 0)) {
    throw badOption('--port', port, 'a port from 1 to 65535, or <host>:<port>; without it $PORT counts')
  }
  const os = require('node:os')
  const { unitsOf } = require('./service-unit')
  const bin = asCalled(path.join(__dirname, '..', '..', 'bin', 'recycle.js'))
  const command = [process.execPath, bin, ...words, app, ...args]
  const units = unitsOf({
    name,
    command,
    folder,
    user: user ?? os.userInfo().username,
    env,
    envFile: write !== undefined && Object.keys(env).length > 0 ? path.resolve(write, `${name}.env`) : null,
    port: port || null,
    timeouts
  })
  // enable links a file by its path
  const isLinked = write !== undefined && path.resolve(write) !== '/etc/systemd/system'
  const files = units.map(({ file }) => file).filter(file => !file.endsWith('.env'))
  const where = files.map(file => isLinked ? path.resolve(write, file) : file).join(' ')
  return {
    units,
    next: `then: systemctl daemon-reload; systemctl enable --now ${where}; and recycle status ${name}; ` +
      `systemctl stop ${files.toReversed().join(' ')} stops it`
  }
}

module.exports = { addUnit }
