'use strict'

/**
 * Habits of users of other supervisors: flags and keys that recycle does not have, each with what to write instead.
 * Words of its command line are in lib/cli/habits.js.
 */

const { FEATURES } = require('../features')
const { byWord } = require('../core/fields')
const { nearest } = require('../core/did-you-mean')
const { OPTIONS } = require('./options')

const OUTPUT = "what the workers print is recycle's own output, which recycle logs follows where it goes to a file " +
  "or to systemd's journal; recycle tail prints the events of a fleet"
const ENVIRONMENT = 'the workers have the environment in which recycle is started'
const WATCH = 'recycle does not watch files; node --watch <file> does, for development'
const FOREGROUND = 'recycle runs in the foreground, for systemd or a container to supervise'
const BACKOFF = 'a worker that dies is replaced at once, and ever more slowly when it dies again and again'

/**
 * @typedef {object} Flag of another supervisor
 * @property {string} answer
 * @property {(value: string) => string[]} [ours] the same in our flags; only for flags that no app is likely to have
 */

/** Of pm2 and forever. @type {Readonly<Record<string, Flag>>} */
const OF_STARTERS = byWord(/** @type {[string, Flag][]} */ ([
  ['--instances',
    { answer: 'write --workers <n> (-w)', ours: value => ['--workers', value === 'max' ? 'auto' : value] }],
  ['--max-memory-restart', { answer: 'write --max-rss <size> (-m)', ours: value => ['--max-rss', value] }],
  ['--wait-ready', { answer: 'write --ready-on message', ours: () => ['--ready-on', 'message'] }],
  ['--listen-timeout', { answer: 'write --ready-timeout <time>' }],
  ['--node-args --interpreter-args', { answer: 'write --node-option <flag>, once for each' }],
  ['--interpreter', { answer: 'the Node.js that runs recycle runs the app' }],
  ['--exec-mode -x', { answer: 'workers always share their ports, as in pm2\'s cluster mode' }],
  ['-n', { answer: 'write --name <name>' }],
  ['--watch --ignore-watch --ext', { answer: WATCH }],
  ['--cron --cron-restart', { answer: '--max-age <time> replaces each worker when it has served for so long' }],
  ['--env', { answer: ENVIRONMENT }],
  ['--update-env',
    { answer: 'the workers have the environment in which recycle was started; start it anew for another one' }],
  ['-o --error -e --merge-logs --access-logfile', { answer: OUTPUT }],
  ['--no-daemon --daemon -d -D', { answer: FOREGROUND }],
  ['--pid --pidfile', { answer: `${FOREGROUND}; recycle ls has the pid` }],
  ['--restart-delay --exp-backoff-restart-delay --max-restarts --min-uptime --minUptime --spinSleepTime',
    { answer: BACKOFF }],
  ['--force -f', {
    answer: 'each recycle <app> is a fleet of its own, and --name tells two of one app apart; ' +
      'recycle stop --now cuts what is in flight'
  }]
]))

/** @type {Readonly<Record<string, Flag>>} */
const FLAGS = Object.freeze({
  ...OF_STARTERS,
  ...byWord(/** @type {[string, Flag][]} */ ([
    ['-v', { answer: 'write --version (-V)' }],
    ['--lines', { answer: 'recycle logs and recycle tail have -n <n>' }],
    ['--bind -b --port -p',
      { answer: 'the app itself says where it listens, by server.listen() and its own variables such as PORT' }],
    ['--graceful-timeout', {
      answer: 'write --drain-timeout <time>',
      ours: value => ['--drain-timeout', /^\d+$/.test(value) ? `${value}s` : value]
    }],
    ['--max-requests-jitter',
      { answer: 'write --jitter <percent>, which is of every budget', ours: _ => ['--jitter', '10'] }],
    ['--threads', { answer: 'a worker has one thread, its event loop; write --workers <n>' }],
    ['--worker-class -k', { answer: 'a worker is a Node.js process' }],
    ['--worker-connections', { answer: 'a worker accepts as many connections as it has file descriptors for' }],
    ['--reload', { answer: WATCH }],
    ['-c -C', { answer: 'write --config <file>' }]
  ])),
  ...Object.assign({}, ...FEATURES.map(({ habits }) => habits))
})

/** Keys of other config files that are no flags too. @type {Readonly<Record<string, string>>} */
const KEYS = byWord([
  ['env', ENVIRONMENT],
  ['script', 'write app'],
  ['cwd', 'the workers run in the folder in which recycle is started'],
  ['autorestart', BACKOFF],
  ['kill_timeout', 'write killTimeout, with its unit'],
  ['out_file error_file log_file', OUTPUT],
  ['increment_var instance_var', 'RECYCLE_SLOT is the number of a worker']
])

/**
 * To the sentence on an unknown key of a config file or of the library.
 * @param {string} key @param {readonly string[]} known @param {string} [lists] the command that lists them all
 * @returns {string}
 */
function hintOnKey (key, known, lists = 'recycle --config none --print-config') {
  const flag = `--${key.replace(/_/g, '-').replace(/[A-Z]/g, '-$&').toLowerCase()}`
  if (Object.hasOwn(KEYS, key)) return KEYS[key]
  if (/^env_/.test(key)) return ENVIRONMENT
  if (Object.hasOwn(FLAGS, flag)) return asKeys(FLAGS[flag].answer)
  const meant = nearest(key, known)
  return meant ? `did you mean ${meant}?` : `${lists} lists those there are`
}

/** @param {string} answer on a flag @returns {string} with the names of options in place of their flags */
function asKeys (answer) {
  return answer.replace(/(--[a-z-]+)(?: <\w+>)?(?: \(-\w\))?/g,
    (written, flag) => OPTIONS.find(({ long }) => long === flag)?.name ?? written)
}

module.exports = { OUTPUT, ENVIRONMENT, OF_STARTERS, FLAGS, hintOnKey }
