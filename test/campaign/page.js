'use strict'

/** The results of campaigns as a page, beside their JSON. */

/**
 * @typedef {{ fault: string, tries: number, survived: number, killed: number, beyond: number }} Row
 * @typedef {{ seed: number, seconds: number, requests: number, node: string }} Run
 */

const COLUMNS = /** @type {const} */ (['tries', 'survived', 'killed', 'beyond'])

/**
 * @param {{ runs: Run[], faults: Row[], skipped: { fault: string, why: string }[], notes?: string[] }} results `notes`:
 *   what is known of the tries that were not survived
 * @returns {string} Markdown
 */
function campaignPage ({ runs, faults, skipped, notes = [] }) {
  const sum = (/** @type {typeof COLUMNS[number]} */ key) => faults.reduce((sum, row) => sum + row[key], 0)
  const total = (/** @type {'seconds' | 'requests'} */ key) => runs.reduce((sum, run) => sum + run[key], 0)
  const row = (/** @type {any[]} */ cells) => `| ${cells.join(' | ')} |`
  const seeds = runs.map(({ seed }) => seed).join(', ')
  return [
    '# Faults under load',
    '',
    `${sum('tries')} faults in ${total('seconds').toLocaleString('en')} s, at random moments of fleets of three workers that answered ${total('requests').toLocaleString('en')} requests of 14 clients.`,
    `Written by \`npm run campaign\` (seed${runs.length > 1 ? 's' : ''} ${seeds}; Node.js ${[...new Set(runs.map(({ node }) => node))].join(', ')}); see [Contributing](../../docs/contributing.md#the-campaign).`,
    '',
    '- **survived**: all workers were as desired again, requests were answered, and no rule was broken.',
    '- **killed**: requests that were in the worker that the fault has hit, and failed with it.',
    '- **beyond**: all others that failed.',
    '',
    row(['fault', ...COLUMNS]),
    row(['---', ...COLUMNS.map(() => '--:')]),
    ...[...faults].sort((a, b) => a.fault < b.fault ? -1 : 1)
      .map(fault => row([fault.fault, ...COLUMNS.map(key => fault[key])])),
    row(['**all**', ...COLUMNS.map(sum)]),
    '',
    ...notes,
    ...skipped.map(({ fault, why }) => `Skipped: ${fault} (${why}).`)
  ].join('\n').trimEnd() + '\n'
}

module.exports = { campaignPage }
