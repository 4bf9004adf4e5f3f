'use strict'

/**
 * npm run campaign [-- --seconds 120] [--seed 1] [--only <words of a fault's name>] [--out file]: faults under load, at random moments, for
 * so long. It prints a table of faults, and writes bench/results/campaign.json. The same seed makes the same choices; what the machine does
 * meanwhile it cannot repeat. The exit code is 1 if a fault was not survived, or cost a request that it had not killed itself.
 */

const path = require('node:path')
const { readFlags, exitOnBadFlag } = require('../../bench/support/flags')
const { ResultsFile, RESULTS } = require('../../bench/support/results-file')
const { campaign } = require('./run')

const FLAGS = { seconds: '120', seed: '1', only: { default: '' }, out: { default: path.join(RESULTS, 'campaign.json') } }

/** @param {import('./run').Try[]} tries */
function byFault (tries) {
  return [...new Set(tries.map(({ fault }) => fault))].map(fault => {
    const of = tries.filter(made => made.fault === fault)
    const sum = (/** @type {'killed' | 'beyond'} */ key) => of.reduce((sum, made) => sum + made[key], 0)
    return { fault, tries: of.length, survived: of.filter(({ survived }) => survived).length, killed: sum('killed'), beyond: sum('beyond') }
  })
}

/** @param {ReturnType<typeof byFault>} rows */
function table (rows) {
  const width = Math.max(...rows.map(({ fault }) => fault.length), 5)
  const row = (/** @type {any[]} */ [fault, ...figures]) => `${fault.padEnd(width)}${figures.map(figure => String(figure).padStart(12)).join('')}`
  const total = (/** @type {'tries' | 'survived' | 'killed' | 'beyond'} */ key) => rows.reduce((sum, row) => sum + row[key], 0)
  return [
    row(['fault', 'tries', 'survived', 'killed', 'beyond']),
    ...rows.map(({ fault, tries, survived, killed, beyond }) => row([fault, tries, survived, killed, beyond])),
    row(['all', total('tries'), total('survived'), total('killed'), total('beyond')]),
    '',
    'killed: requests that the fault itself has ended. beyond: all others that failed.'
  ].join('\n')
}

async function main () {
  exitOnBadFlag('campaign')
  const { seconds, seed, only, out } = readFlags(FLAGS, {}, process.argv.slice(2))
  const file = new ResultsFile(out)
  const began = Date.now()
  const { tries, requests, refused } = await campaign({
    seconds: Number(seconds),
    seed: Number(seed),
    where: ({ name }) => name.includes(only),
    onTry: ({ fault, variant, violations }) => { for (const { rule, what } of violations) console.error(`${fault} (${variant}): ${rule}: ${what}`) }
  })
  for (const step of refused.slice(0, 10)) console.error(`the model: ${step.slice(0, 300)}`)
  const rows = byFault(tries)
  console.log(table(rows))
  console.log(`${requests} requests in ${Math.round((Date.now() - began) / 1000)} s, seed ${seed}`)
  file.save({ v: 1, node: process.version, seed: Number(seed), seconds: Math.round((Date.now() - began) / 1000), requests, faults: rows })
  process.exitCode = rows.some(({ tries, survived, beyond }) => survived < tries || beyond > 0) || refused.length > 0 ? 1 : 0
}

main()
