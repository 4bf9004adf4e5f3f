'use strict'

/**
 * npm run campaign [-- --seconds 120] [--seed 1] [--only <words of a fault's name>] [--evidence <folder>] [--out
 * <file>] [--add]: faults under load, at random moments, for so long. It prints a table of faults, and writes
 * bench/results/campaign.json and a page beside it; --add adds to what is there. The same seed makes the same choices;
 * what the machine does meanwhile it cannot repeat. The exit code is 1 if a fault was not survived, or cost a request
 * that it had not killed itself; the folder gets the journal, the faults and the requests of each fleet to which that
 * happened. `--kills n`, `--primaries n` (with `--kills` workers, too), `--anything n` and `--moves n` kill workers,
 * primaries, or any process of a fleet, and move WebSockets, in place of that (`--only systemd`: primaries of that
 * variant alone); `--deploys n` deploys equal and bad code n times each, with a canary (`--only` one of the kinds,
 * `--seconds` of each comparison).
 */

const fs = require('node:fs')
const path = require('node:path')
const { BadFlag, readFlags, exitOnBadFlag } = require('../../bench/support/flags')
const { ResultsFile, RESULTS } = require('../../bench/support/results-file')
const { campaignPage } = require('./page')
const { killAnything } = require('./anything/run')
const { deploy, KINDS } = require('./deploys/run')
const { killWorkers } = require('./kills/run')
const { leakTable, studyLeaks } = require('./leaks/run')
const { moveWebSockets } = require('./migration/run')
const { killPrimaries, variantsHere } = require('./primaries/run')
const { campaign } = require('./run')

const FLAGS = { seconds: '120', seed: '1', kills: '0', primaries: '0', anything: '0', moves: '0', leaks: '0', mold: false, deploys: '0', only: { default: '' }, evidence: { default: '' }, add: false, out: { default: path.join(RESULTS, 'campaign.json') } }

/** @param {import('./run').Try[]} tries */
function byFault (tries) {
  return [...new Set(tries.map(({ fault }) => fault))].map(fault => {
    const of = tries.filter(made => made.fault === fault)
    const sum = (/** @type {'killed' | 'beyond'} */ key) => of.reduce((sum, made) => sum + made[key], 0)
    return { fault, tries: of.length, survived: of.filter(({ survived }) => survived).length, killed: sum('killed'), beyond: sum('beyond') }
  })
}

/** @typedef {ReturnType<typeof byFault>} Rows */

/** The rows of both, one a fault. @param {Rows} earlier @param {Rows} rows @returns {Rows} */
function sum (earlier, rows) {
  const of = (/** @type {Rows} */ rows, /** @type {string} */ name) =>
    rows.find(({ fault }) => fault === name) ?? { tries: 0, survived: 0, killed: 0, beyond: 0 }
  return [...new Set([...earlier, ...rows].map(({ fault }) => fault))].map(fault => {
    const [a, b] = [of(earlier, fault), of(rows, fault)]
    return {
      fault,
      tries: a.tries + b.tries,
      survived: a.survived + b.survived,
      killed: a.killed + b.killed,
      beyond: a.beyond + b.beyond
    }
  })
}

/** @param {Rows} rows */
function table (rows) {
  const width = Math.max(...rows.map(({ fault }) => fault.length), 5)
  const row = (/** @type {any[]} */ [fault, ...figures]) => `${fault.padEnd(width)}${figures.map(figure => String(figure).padStart(12)).join('')}`
  const total = (/** @type {'tries' | 'survived' | 'killed' | 'beyond'} */ key) =>
    rows.reduce((sum, row) => sum + row[key], 0)
  return [
    row(['fault', 'tries', 'survived', 'killed', 'beyond']),
    ...rows.map(({ fault, tries, survived, killed, beyond }) => row([fault, tries, survived, killed, beyond])),
    row(['all', total('tries'), total('survived'), total('killed'), total('beyond')]),
    '',
    'killed: requests that the fault itself has ended. beyond: all others that failed.'
  ].join('\n')
}

/** @param {{ kills: number, seed: number, evidence: string }} how */
async function killMany (how) {
  const began = Date.now()
  let done = 0
  const { kills, requests, costs, ends, violations } = await killWorkers({
    ...how,
    onFleet (variant, { kills, violations }) {
      done += kills
      for (const what of violations) console.error(`${variant}: ${what}`)
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${how.kills} workers killed`)
    }
  })
  console.log(`\n${kills} workers killed in ${Math.round((Date.now() - began) / 1000)} s, ${requests} requests, seed ${how.seed}, ${process.version}`)
  console.log(`their connections: ${Object.entries(ends).map(([name, count]) => `${count} ${name}`).join(', ')}`)
  console.log(`requests that a kill may cost and has: ${Object.entries(costs).sort(([, a], [, b]) => b - a).map(([name, count]) => `${count} × ${name}`).join(', ') || 'none'}`)
  console.log(`others that failed: ${violations.length}`)
  process.exitCode = violations.length > 0 ? 1 : 0
}

/** @param {{ kills: number, workers: number, seed: number, evidence: string }} how */
async function killAllPrimaries (how) {
  const outcomes = await killPrimaries({
    ...how,
    onFleet: ({ variant, violations }) => { for (const what of violations) console.error(`${variant}: ${what}`) }
  })
  console.log(`${'fleet'.padEnd(10)}${['kills', 'workers', 'requests', 'young', 'anew', 'messages', 'closed', 'median ms', 'longest ms', 'wrong'].map(title => title.padStart(11)).join('')}`)
  for (const outcome of outcomes) {
    const { variant, kills, workers, requests, young, anew, messages, closed, supervisedMs, violations } = outcome
    const ms = [...supervisedMs].sort((a, b) => a - b)
    console.log(`${variant.padEnd(10)}${[kills, workers, requests, young, anew, messages, closed, ms[ms.length >> 1], ms.at(-1), violations.length].map(figure => String(figure).padStart(11)).join('')}`)
  }
  process.exitCode = outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0
}

/** @param {{ kills: number, seed: number, evidence: string }} how */
async function killAll (how) {
  const outcomes = await killAnything({
    ...how,
    onFleet: ({ variant, violations }) => { for (const what of violations) console.error(`${variant}: ${what}`) }
  })
  for (const { variant, kills, violations, ...figures } of outcomes) console.log(`${variant}: ${listed(kills)}; ${listed(figures)}; ${violations.length} wrong`)
  process.exitCode = outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0
}

/** @param {Record<string, number>} counts */
function listed (counts) {
  return Object.entries(counts).map(([what, count]) => `${count} × ${what}`).join(', ')
}

/** @param {{ deploys: number, only: string, seconds: number }} how */
async function deployMany ({ deploys, only, seconds }) {
  const kinds = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS).filter(kind => kind.includes(only)))
  const rows = await deploy({ deploys, kinds, bake: `${seconds}s`, onDeploy: ({ kind, isGood, why, afterMs }) => console.error(`${kind}: ${isGood ? 'good' : 'not good'} after ${(afterMs / 1000).toFixed(1)} s: ${why}`) })
  const median = (/** @type {number[]} */ values) => [...values].sort((a, b) => a - b)[values.length >> 1]
  console.log(`${'code'.padEnd(12)}${['good', 'bad', 'undecided', 'median s', 'requests', 'lost'].map(title => title.padStart(10)).join('')}  decided by`)
  for (const { kind, good, bad, undecided, afterMs, requests, lost, by } of rows) {
    console.log(`${kind.padEnd(12)}${[good, bad, undecided, (median(afterMs) / 1000).toFixed(1), requests, lost.length].map(figure => String(figure).padStart(10)).join('')}  ${Object.entries(by).map(([name, count]) => `${count} ${name}`).join(', ')}`)
    for (const error of new Set(lost)) console.log(`  lost: ${error}`)
  }
  process.exitCode = rows.some(({ lost }) => lost.length > 0) ? 1 : 0
}

/** @param {{ moves: number, seed: number }} how */
async function moveMany (how) {
  const began = Date.now()
  const { moves, kills, messages, closed, violations } = await moveWebSockets(how)
  for (const what of violations) console.error(what)
  console.log(`${moves} times a WebSocket has gone to another worker, in ${Math.round((Date.now() - began) / 1000)} s; ${messages} messages; ${kills} workers and a primary killed, ${closed} connections closed with them; seed ${how.seed}, ${process.version}`)
  console.log(`wrong: ${violations.length}`)
  process.exitCode = violations.length > 0 ? 1 : 0
}

/** @param {{ seconds: number, isMold: boolean, only: string }} how `seconds` of a study */
async function studyMany ({ seconds, isMold, only }) {
  const tried = await studyLeaks({
    languages: isMold ? ['cjs'] : ['cjs', 'esm', 'ts'],
    only: name => name.includes(only),
    forMs: 1000 * seconds,
    fork: isMold ? 'mold' : 'spawn',
    onTried: ({ app, language, found, named, verdict }) => console.error(`${app}, ${language}: ${found} (${named || verdict})`)
  })
  console.log(leakTable(tried))
  process.exitCode = tried.some(({ found, failures }) => found !== 'right' || failures > 0) ? 1 : 0
}

async function main () {
  exitOnBadFlag('campaign')
  const flags = readFlags(FLAGS, {}, process.argv.slice(2))
  const { seconds, seed, kills, primaries, anything, moves, deploys, leaks, mold, only, evidence, add, out } = flags
  if (Number(primaries) > 0) {
    const variants = variantsHere()
    if (only && !variants.includes(only)) throw new BadFlag(`--only takes one of ${variants.join(', ')} here; it is "${only}"`)
    const workers = Math.round(Number(kills) / Number(primaries))
    return killAllPrimaries({ kills: Number(primaries), workers, seed: Number(seed), only, evidence })
  }
  if (Number(anything) > 0) return killAll({ kills: Number(anything), seed: Number(seed), evidence })
  if (Number(kills) > 0) return killMany({ kills: Number(kills), seed: Number(seed), evidence })
  if (Number(moves) > 0) return moveMany({ moves: Number(moves), seed: Number(seed) })
  if (Number(leaks) > 0) return studyMany({ seconds: Number(leaks), isMold: mold, only })
  if (Number(deploys) > 0) return deployMany({ deploys: Number(deploys), only, seconds: Number(seconds) })
  const file = new ResultsFile(out)
  const began = Date.now()
  const { tries, requests, refused, skipped } = await campaign({
    seconds: Number(seconds),
    seed: Number(seed),
    evidence,
    where: ({ name }) => name.includes(only),
    onTry: ({ fault, variant, violations }) => { for (const { rule, what } of violations) console.error(`${fault} (${variant}): ${rule}: ${what}`) }
  })
  for (const step of refused.slice(0, 10)) console.error(`the model: ${step.slice(0, 300)}`)
  const rows = byFault(tries)
  console.log(table(rows))
  for (const { fault, why } of skipped) console.log(`skipped: ${fault}: ${why}`)
  const run = { seed: Number(seed), seconds: Math.round((Date.now() - began) / 1000), requests, node: process.version }
  console.log(`${requests} requests in ${run.seconds} s, seed ${seed}`)
  const earlier = add && fs.existsSync(out) ? JSON.parse(fs.readFileSync(out, 'utf8')) : { runs: [], faults: [] }
  const results = {
    v: 1, runs: [...earlier.runs, run], faults: sum(earlier.faults, rows), skipped, notes: earlier.notes ?? []
  }
  file.save(results)
  fs.writeFileSync(out.replace(/(\.json)?$/, '.md'), campaignPage(results))
  process.exitCode = rows.some(({ tries, survived, beyond }) => survived < tries || beyond > 0) || refused.length > 0
    ? 1
    : 0
}

main()
