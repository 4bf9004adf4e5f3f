'use strict'

/** Packages whose program starts another process, in which the app then runs: recycle would supervise the wrong one. */

const WATCHER = (/** @type {string[]} */ args) => `recycle ${args.join(' ')}, and recycle reload after a change`
const ENVIRONMENT = (/** @type {string[]} */ args, /** @type {string} */ name) => `${[name, ...args.slice(0, -1), 'recycle', ...args.slice(-1)].join(' ')}`
const NAME_IT = () => 'recycle <file>, with the file of the server itself'

/** @type {Readonly<Record<string, (args: string[], name: string) => string>>} */
const LAUNCHERS = Object.freeze({
  tsx: args => `recycle --node-option=--import=tsx ${args.filter(arg => arg !== 'watch').join(' ')}`,
  nodemon: WATCHER,
  'ts-node-dev': args => `recycle --node-option=--require=ts-node/register ${args.filter(arg => !arg.startsWith('-')).join(' ')}`,
  'cross-env': ENVIRONMENT,
  'env-cmd': ENVIRONMENT,
  'dotenv-cli': ENVIRONMENT,
  '@dotenvx/dotenvx': ENVIRONMENT,
  'npm-run-all': NAME_IT,
  concurrently: NAME_IT,
  npm: NAME_IT,
  pnpm: NAME_IT,
  yarn: NAME_IT,
  pm2: NAME_IT,
  forever: NAME_IT
})

/**
 * @param {string} file absolute, without symbolic links
 * @param {string[]} args of it
 * @param {string} name by which the user called it
 * @returns {string | null} a sentence; null: it is no launcher
 */
function refuseLauncher (file, args, name) {
  const [, found] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? []
  const word = found?.replaceAll('\\', '/')
  if (word === undefined || !Object.hasOwn(LAUNCHERS, word)) return null
  return `${word} starts the app in another process, which recycle could not supervise; write ${LAUNCHERS[word](args.length > 0 ? args : ['<file>'], name)}`
}

module.exports = { refuseLauncher }
