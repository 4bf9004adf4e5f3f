'use strict'

const { figuresOf } = require('../support/figures')
const { decimal } = require('../support/results')
const { markdownTable } = require('../support/table')

/**
 * @param {string} group
 * @returns {(read: import('.').Read) => string} what share of the deploys was called bad, by fault and by requests
 */
function found (group) {
  return read => {
    const results = read('canary')
    const { columns = [], groups = [] } = results.at(-1) ?? {}
    const sizes = columns.map((/** @type {{ key: string }} */ { key }) => Number(/^bad(\d+)$/.exec(key)?.[1])).filter(Number.isFinite)
    const subjects = groups.find((/** @type {{ name: string }} */ { name }) => name === group)?.subjects ?? []
    return markdownTable([
      ['new code, and requests that it got', ...sizes.map((/** @type {number} */ size) => decimal(size))],
      ...subjects.map((/** @type {{ name: string }} */ { name }) => {
        const figures = figuresOf(results, { group, subject: name })
        return [name, ...sizes.map((/** @type {number} */ size) => `${figures.median(`bad${size}`, name === 'equal code' ? 1 : 0)} %`)]
      })
    ])
  }
}

module.exports = {
  clients: found('a connection for each client'),
  proxy: found('behind a proxy'),

  /** @param {import('.').Read} read How often equal code was called bad, of how many deploys. */
  'false-alarms' (read) {
    const groups = ['a connection for each client', 'behind a proxy'].map(group => figuresOf(read('canary'), { group, subject: 'equal code' }))
    const deploys = groups.reduce((sum, figures) => sum + figures.sum('deploys'), 0)
    const bad = groups.reduce((sum, figures) => sum + figures.sum('deploys') * figures.sum('badPercent') / 100, 0)
    return `${decimal(Math.round(bad))} of ${decimal(deploys)} deploys of equal code (${decimal(100 * bad / deploys, 2)} %)`
  }
}
