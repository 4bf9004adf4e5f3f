'use strict'

const { Help } = require('commander')
const { row } = require('../core/options')
const { types } = require('../core/option-types')
const { FEATURES } = require('../features')

const MOST_USED = 'Most used options:'

/**
 * Headings, in this order; the options of features name theirs. A name that is in no list is among the others.
 *
 * @type {Readonly<Record<string, string[]>>}
 */
const GROUPS = Object.freeze({
  [MOST_USED]: ['workers', 'maxRss', 'maxAge', 'maxRequests', 'readyOn', 'drainTimeout', 'journal', 'admin', 'name'],
  'Memory and other limits:': ['hardRss', 'metric', 'meter', 'interval', 'samples', 'jitter'],
  'Health checks:': [],
  'Replacing workers:': ['maxSurge', 'maxUnavailable', 'readyTimeout', 'killTimeout', 'stopLinger', 'stopTimeout', 'leaveChildren', 'standby', 'compileCache', 'nodeOption'],
  'Connections and requests:': ['handoff', 'replay', 'replayAfter', 'schedule'],
  'Output and control:': ['log', 'control', 'adminAllowRemote']
})

/** Of options of features. @type {Map<string, string>} */
const OF_FEATURES = new Map(FEATURES.flatMap(({ options, group, mostUsed = [] }) =>
  options({ row, types }).map(({ name }) => [name, mostUsed.includes(name) ? MOST_USED : group])))

/** @param {string} name of an option @returns {string} the heading that it stands under */
function groupOf (name) {
  return Object.keys(GROUPS).find(group => GROUPS[group].includes(name)) ?? OF_FEATURES.get(name) ?? 'Other options:'
}

/** The commands and the options of the first heading come first. @param {import('commander').Command} program */
function orderHelp (program) {
  program.configureHelp({
    formatHelp (command, helper) {
      const sections = Help.prototype.formatHelp.call(helper, command, helper).split(/\n(?=\S[^\n]*:\n)/)
      const rank = (/** @type {string} */ section) => ['Usage', 'Arguments:', MOST_USED, 'Commands:', ...Object.keys(GROUPS)].findIndex(title => section.startsWith(title))
      return command === program ? sections.sort((a, b) => (rank(a) + 1 || Infinity) - (rank(b) + 1 || Infinity)).map(section => `${section.trimEnd()}\n`).join('\n') : sections.join('\n')
    }
  })
}

module.exports = { groupOf, orderHelp }
