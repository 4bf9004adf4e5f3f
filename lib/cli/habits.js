'use strict'

/**
 * Habits of users of other supervisors, on the command line: words that recycle does not have, each with what to write
 * instead, and flags in a wrong place. `recycle start <app>` and `recycle list` work.
 */

const { SUCCESSION } = require('../features')
const { byWord } = require('../core/fields')
const { ENVIRONMENT, FLAGS, OF_STARTERS, OUTPUT } = require('../tables/habits')
const { OPTIONS } = require('../tables/options')
/** @import { Option } from '../tables/options' */

/** First words that are left out, or stand for a command. @type {Readonly<Record<string, string[]>>} */
const SYNONYMS = Object.freeze({ start: [], list: ['ls'] })

const RELOAD = 'recycle reload replaces every worker by one that runs the code on disk, and drops nothing'

/** @type {Readonly<Record<string, string>>} */
const COMMANDS = byWord([
  ['restart gracefulReload startOrReload startOrRestart', RELOAD],
  ['log flush attach', OUTPUT],
  ['monit dash', 'recycle top shows the fleet live'],
  ['plus web', '--admin <port> serves metrics and a live page'],
  ['kill', 'recycle stop ends a fleet, recycle stop --now cuts what is in flight'],
  ['delete del', 'recycle stop ends a fleet, and nothing of it is kept'],
  ['stopall', 'recycle stop ends a fleet; recycle ls lists those that run'],
  ['restartall', 'recycle reload replaces every worker of a fleet'],
  ['describe show info', 'recycle status --json has all that is known of a fleet'],
  ['ps', 'recycle ls lists the fleets that run, recycle status the workers of one'],
  ['jlist prettylist', 'recycle ls --json lists the fleets, recycle status --json the workers of one'],
  ['save startup unstartup resurrect', 'systemd or a container starts recycle at boot: ' +
    'recycle unit --write /etc/systemd/system <app> ' +
    "writes the service, with --from ecosystem.config.js in place of <app> one for each app of pm2's"],
  ['reloadLogs', 'the journal is reopened by itself when it is rotated'],
  ['init ecosystem', 'recycle needs no config file; recycle.config.js, one for each app, exports an object ' +
    'with keys such as app, workers and maxRss'],
  ['env', `${ENVIRONMENT}; recycle --print-config shows the options and their origins`],
  ['update', `npm installs another version of recycle, and ${SUCCESSION.command} has a running fleet go over to it`],
  ['reset', 'what is counted is counted from the start of a fleet'],
  ['serve', 'recycle runs Node.js apps, and serves no files itself: write recycle <file>'],
  ['deploy', 'another program brings the code to the machine; recycle reload then runs what is on disk'],
  ['install uninstall', 'recycle has no modules; npm installs packages'],
  ['set get conf', 'options are flags of recycle, its environment, or recycle.config.js'],
  ['ping', 'recycle ls lists the fleets that run'],
  ['pid', 'recycle ls has the pids of the fleets, recycle status those of the workers'],
  ['id', 'recycle ls has the names and pids of the fleets'],
  ['sendSignal', "recycle signal <signal> has the app's own listeners called, in every worker; " +
    'kill -<signal> <pid> sends one to recycle itself, whose pid recycle ls has'],
  ['phased', 'recycle reload replaces one worker after the other'],
  ['node nodemon npx',
    'recycle runs the app itself: write recycle <file>, with Node.js flags as --node-option <flag>'],
  ['tsx ts-node', 'recycle --node-option=--import=tsx <file> runs TypeScript by tsx'],
  ['npm yarn pnpm',
    'recycle runs a file: write that of the start script in package.json, or recycle alone in its folder']
])

/** @param {string} word @returns {string | null} what to write instead of this command */
const answerToCommand = word => Object.hasOwn(COMMANDS, word) ? `there is no ${word}: ${COMMANDS[word]}` : null

/** @param {string} flag @returns {string | null} what to write instead of this flag */
const answerToFlag = flag => Object.hasOwn(FLAGS, flag) ? `there is no ${flag}: ${FLAGS[flag].answer}` : null

/** To the sentence on a fleet not there. @param {string} command @param {string} name @returns {string | null} */
function answerToFleet (command, name) {
  if (!/^\d+$/.test(name)) return null
  const one = ['reload', 'stop'].includes(command)
    ? `, and recycle recycle ${name} replaces the worker of slot ${name}`
    : ''
  return `fleets have names and no numbers: recycle ${command} alone is for the only one that runs${one}`
}

/** To the sentence on a bad value. @param {string} option flag @param {unknown} given @returns {string} '' for none */
function hintOn (option, given) {
  if (option === '--interval' && /^(?:max|-?\d{1,2})$/.test(String(given))) {
    return '; for the number of workers, as by the -i of pm2, write -w'
  }
  if (option === '--workers' && /\.[cm]?[jt]s$/.test(String(given))) {
    return '; to restart on changes, as by the -w of pm2, run node --watch'
  }
  return ''
}

/**
 * Flags that stand after the app, which gets them, and were probably meant for recycle.
 * @param {string} app @param {readonly string[]} args of the app
 * @param {{ call?: string, options?: readonly (Pick<Option, 'flag'> & { short?: string, long?: string })[], isStart?:
 *   boolean }} [of] the command; `isStart`: by pm2's word, to which an app's own flags stand behind `--`
 * @returns {{ flags: string[], answers: string[], instead: string } | null} `answers`: on flags that recycle does not
 *   have; `instead`: the call that was meant
 */
function flagsAfterApp (app, args, {
  isStart = false, call = isStart ? 'recycle start' : 'recycle', options = OPTIONS
} = {}) {
  const end = args.indexOf('--')
  const mine = end === -1 ? args : args.slice(0, end)
  /** @type {string[]} */
  const flags = []
  /** @type {Set<string>} */
  const answers = new Set()
  /** @type {string[]} */
  const moved = []
  /** @type {string[]} */
  const left = []
  for (let i = 0; i < mine.length; i++) {
    const [flag, joined] = mine[i].split(/=(.*)/s)
    const option = options.find(({ short, long }) => flag === short || flag === long)
    const ours = FLAGS[flag]?.ours
    const answer = isStart && !option && !ours && Object.hasOwn(OF_STARTERS, flag) ? answerToFlag(flag) : null
    if (!option && !ours && answer === null) {
      left.push(mine[i])
      continue
    }
    flags.push(flag)
    if (answer !== null) {
      answers.add(answer)
      if (joined === undefined && mine[i + 1]?.startsWith('-') === false) i++ // its value
      continue
    }
    const takesValue = option ? option.flag.includes(' ') : Boolean(ours?.length)
    const value = joined ?? (takesValue ? mine[++i] : undefined)
    if (ours) moved.push(...ours(value ?? ''))
    else if (flag === '-i' &&
      /^(?:max|\d{1,2})$/.test(value ?? '')) moved.push('-w', value === 'max' ? 'auto' : String(value))
    else moved.push(...joined === undefined ? [flag, ...value === undefined ? [] : [value]] : [mine[i]])
  }
  if (flags.length === 0) return null
  return {
    flags: [...new Set(flags)],
    answers: [...answers],
    instead: [call, ...moved, app, ...left, ...end === -1 ? [] : args.slice(end)].join(' ')
  }
}

module.exports = {
  SYNONYMS, COMMANDS, answerToCommand, answerToFlag, hintOn, answerToFleet, flagsAfterApp
}
