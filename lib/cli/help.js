'use strict'

const { Help } = require('commander')
const { row } = require('../tables/options')
const { badUsage } = require('../core/errors')
const { formatValue } = require('../core/format-value')
const { types } = require('../core/option-types')
const { FEATURES } = require('../features')
/** @import { Command } from 'commander' */

/**
 * The options of the short help, each in a few words with its default; the README has the same ten.
 * @type {Readonly<Record<string, string>>}
 */
const MOST_USED = Object.freeze({
  workers: 'number of workers (2×CPU+1)',
  maxRss: 'memory budget of each worker (none)',
  maxRequests: 'requests before a worker is replaced (none)',
  maxAge: 'age at which a worker is replaced (none)',
  drainTimeout: 'for requests of a leaving worker (30s)',
  readyOn: 'listening, online or message (listening)',
  health: 'path that each worker is probed at (none)',
  journal: 'file for every event, as NDJSON (none)',
  name: "name of the fleet for commands (the app's)",
  admin: 'port for metrics, probes, live page (none)'
})

/** Commands that belong together, each group with what it is for. @type {readonly [string[], string][]} */
const COMMANDS = Object.freeze([
  [['ls', 'status', 'top', 'tail', 'logs'], 'show fleets: state, events, output'],
  [['reload', 'rollback', 'recycle'], 'replace workers, to run new code or the old'],
  [['scale', 'signal', 'upgrade', 'stop'], 'change a fleet or its supervisor, or end it'],
  [['leak', 'heapdump', 'cpuprofile', 'gc'], 'examine one worker'],
  [['drill', 'report'], 'test an app under load; read a journal'],
  [['unit', 'completion'], 'a systemd service; for your shell']
])

/** Names of all commands. */
const NAMES = Object.freeze([...COMMANDS.flatMap(([names]) => names), 'help'])

const EXAMPLES = Object.freeze([
  ['recycle --max-rss 512MiB app.js', 'a worker over 512 MiB is replaced'],
  ['recycle reload', 'new code, and no request is dropped'],
  ['recycle drill app.js', 'shows what a recycle drops']
])

/**
 * Headings of `recycle help options`, in this order; the options of features name theirs. A name that is in no list is
 * among the others.
 * @type {Readonly<Record<string, string[]>>}
 */
const GROUPS = Object.freeze({
  'Most used options:': Object.keys(MOST_USED),
  'Memory and other limits:': ['hardRss', 'metric', 'meter', 'interval', 'samples', 'jitter'],
  'Health checks:': [],
  'Replacing workers:': [
    'maxSurge', 'maxUnavailable', 'readyTimeout', 'killTimeout', 'stopLinger', 'stopTimeout', 'orphanTimeout', 'revive',
    'leaveChildren', 'standby', 'compileCache', 'nodeOption'
  ],
  'Connections and requests:': ['handoff', 'replay', 'replayAfter', 'schedule'],
  'Output and control:': ['log', 'control', 'adminAllowRemote']
})

/** Of options of features. @type {Map<string, string>} */
const OF_FEATURES = new Map(FEATURES.flatMap(({ options, group }) =>
  options({ row, types }).map(({ name }) => [name, group])))

/** @param {string} name of an option @returns {string} the heading that it stands under */
function groupOf (name) {
  return Object.keys(GROUPS).find(group => GROUPS[group].includes(name)) ?? OF_FEATURES.get(name) ?? 'Other options:'
}

/**
 * `recycle --help`, which fits a terminal, and `recycle help [options|<command>]`.
 * @param {Command} program with all other commands
 */
function addHelp (program) {
  let isWhole = false
  program.configureHelp({
    formatHelp: (command, helper) => command !== program
      ? Help.prototype.formatHelp.call(helper, command, helper)
      : isWhole ? wholeHelp(program, helper) : shortHelp(program, helper)
  })
  const command = program.command('help [what]').summary('prints this help, that of a command, or all options')
    .description('Prints the help of a command; options: all options of recycle.')
    .action(what => {
      const named = program.commands.find(command => command.name() === what)
      if (what !== undefined && what !== 'options' && !named) {
        throw badUsage(`help was given ${formatValue(what)}; it takes options, or a command: ` +
          `${program.commands.map(command => command.name()).join(', ')}`)
      }
      isWhole = what === 'options'
      ;(named ?? program).outputHelp()
    })
  command.copyInheritedSettings(program)
}

/** Commander's own, its headings in the order of GROUPS. @param {Command} program @param {Help} helper */
function wholeHelp (program, helper) {
  const titles = ['Usage', 'Arguments:', ...Object.keys(GROUPS)]
  const rank = (/** @type {string} */ section) => titles.findIndex(title => section.startsWith(title)) + 1 || Infinity
  return Help.prototype.formatHelp.call(helper, program, helper)
    .split(/\n(?=\S[^\n]*:\n)/).filter(section => !section.startsWith('Commands:'))
    .sort((a, b) => rank(a) - rank(b)).map(section => `${section.trimEnd()}\n`).join('\n')
}

/** @param {Command} program @param {Help} helper */
function shortHelp (program, helper) {
  const options = Object.entries(MOST_USED).map(([name, text]) => {
    const option = program.options.find(option => option.attributeName() === name)
    return [option ? helper.optionTerm(option) : name, text]
  })
  return [
    `Usage: recycle ${program.usage()}`,
    '       recycle <command> [name of a fleet]',
    '',
    helper.boxWrap(program.description(), 78),
    '',
    ...section('The options that most people use', options),
    ...section('Commands', COMMANDS.map(([names, text]) => [names.join(', '), text])),
    ...section('Examples', EXAMPLES),
    'recycle help options lists all options, recycle help <command> those of a',
    'command. Each can also be set in the environment (RECYCLE_MAX_RSS) or in',
    'recycle.config.js.',
    ''
  ].join('\n')
}

/** @param {string} title @param {readonly (readonly string[])[]} rows @returns {string[]} lines */
function section (title, rows) {
  const width = Math.max(...rows.map(([term]) => term.length))
  return [`${title}:`, ...rows.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`), '']
}

module.exports = { COMMANDS, MOST_USED, NAMES, addHelp, groupOf }
