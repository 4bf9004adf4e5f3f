'use strict'

/** Packages whose program starts another process, in which the app then runs: recycle would supervise the wrong one. */

const NAME_IT = 'recycle <file>, with the file of the server itself'
const WITH_VALUE = /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|-C|--conditions)$/ // of node
/** @type {Readonly<Record<string, string>>} */
const LONG = Object.freeze({ '-r': '--require', '-C': '--conditions' })

/** @typedef {(args: string[], name: string) => string | null} Advice null: by the file's name alone */

/** @param {RegExp} valued its options with a value @returns {Advice} for one that watches files */
const watcher = valued => args => {
  const at = programAt(args, valued)
  return at === -1 ? null : `${asRecycle(args.slice(at))}, and recycle reload after a change`
}

/** @param {RegExp} valued @returns {Advice} for one that sets variables, and starts recycle then */
const environment = valued => (args, name) => {
  const at = programAt(args, valued)
  if (at === -1) return null
  const program = args.slice(at)
  const call = program[0] === 'node' ? asRecycle(program.slice(1)) : asRecycle(program)
  return [name, ...args.slice(0, at).map(quoted), call].join(' ')
}

/** @type {Readonly<Record<string, Advice>>} */
const LAUNCHERS = Object.freeze({
  tsx: args => asRecycle(args.filter((arg, i) => i > 0 || arg !== 'watch'), ['--import=tsx']),
  nodemon: watcher(/^(?:-[weidx]|--(?:watch|ext|ignore|delay|exec|config|signal))$/),
  'ts-node-dev': args => {
    const at = programAt(args, /^(?:-P|--project|--ignore-watch|--watch)$/)
    return at === -1 ? null : asRecycle(args.slice(at), ['--require=ts-node/register'])
  },
  'cross-env': environment(/^$/),
  'env-cmd': environment(/^(?:-[fre]|--(?:file|rc-file|environments))$/),
  'dotenv-cli': environment(/^-[ecvp]$/),
  '@dotenvx/dotenvx': environment(/^(?:run|-f|-fk|-e|--env-file|--env-keys-file|--env)$/),
  'npm-run-all': () => null,
  concurrently: () => null,
  npm: () => null,
  pnpm: () => null,
  yarn: () => null,
  pm2: () => null,
  forever: () => null
})

/**
 * @param {string[]} args of a launcher @param {RegExp} valued its options that have a value, the next word
 * @returns {number} where the program stands behind its options and variables; -1: nowhere
 */
function programAt (args, valued) {
  const isWord = (/** @type {string} */ arg) => !arg.startsWith('-') && !/^\w+=/.test(arg) && !valued.test(arg)
  const at = args.findIndex((arg, i) => isWord(arg) && !valued.test(args[i - 1] ?? ''))
  const dashes = args.indexOf('--')
  return dashes === -1 || dashes > at ? at : dashes + 1
}

/**
 * The arguments of `node`, as a call of recycle.
 * @param {string[]} args flags of node, the file, and the app's own @param {string[]} [flags] more flags of node
 */
function asRecycle (args, flags = []) {
  const [rest, all] = [[...args], [...flags]]
  while (rest[0]?.startsWith('-')) {
    const [flag] = rest.splice(0, 1)
    const value = WITH_VALUE.test(flag) ? `=${rest.shift()}` : ''
    all.push(`${LONG[flag] ?? flag}${value}`)
  }
  return ['recycle', ...all.map(flag => `--node-option=${flag}`), ...rest].map(quoted).join(' ')
}

/** @param {string} word @returns {string} as a shell takes it */
const quoted = word => /^[\w@%+=:,./<>-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/**
 * @param {string} file absolute, without symbolic links @param {string[]} args of it
 * @param {string} name by which the user called it @returns {string | null} a sentence; null: it is no launcher
 */
function refuseLauncher (file, args, name) {
  const [, found] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? []
  const word = found?.replaceAll('\\', '/')
  if (word === undefined || !Object.hasOwn(LAUNCHERS, word)) return null
  const instead = LAUNCHERS[word](args.length > 0 ? args : ['<file>'], name) ?? NAME_IT
  return `${word} starts the app in another process, which recycle could not supervise; write ${instead}`
}

module.exports = { refuseLauncher, asRecycle }
