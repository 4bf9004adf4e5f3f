'use strict'

/**
 * npm run mutate [-- --sample 950] [--seed 1] [--only <part of a path>,...] [--own]: what the tests without a fleet
 * notice.
 *
 * Each mutant is a small fault in the pure core, a feature's pure part or the ledger. The tests that load its file are
 * run until one fails: that of the same name first, then the quick ones; with --own only those that load it through the
 * fewest others, which is far quicker. Those that no test notices are listed: each is a test that is missing, a line
 * that is not needed, or the same program.
 */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { readFlags, exitOnBadFlag } = require('../../bench/support/flags')
const { seeded } = require('../support/random')
const { mutantsOf } = require('./mutants')

const ROOT = path.join(__dirname, '..', '..')
const TESTED = ['lib/core', 'lib/tables', 'lib/features', 'lib/primary/handoff/entry.js', 'lib/primary/handoff/ledger.js']
const FAST = ['test/core', 'test/tables', 'test/features', 'test/journal', 'test/worker', 'test/primary/handoff', 'test/tools/report', 'test/control']
const RUNNER = path.join(__dirname, 'runner.js')
const TIME_MS = 60_000
const SLOWER = 4 // times the test's own time, and 2 s: a mutant may loop for ever

/** @param {string} place a file or a folder, from the root @param {string} ending @returns {string[]} absolute */
function filesIn (place, ending) {
  const absolute = path.join(ROOT, place)
  if (!fs.statSync(absolute).isDirectory()) return [absolute]
  return fs.readdirSync(absolute, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith(ending)).map(name => path.join(absolute, name)).sort()
}

/** @param {string} file @returns {string[]} what it loads itself from this repository */
function loadedNow (file) {
  return [...fs.readFileSync(file, 'utf8').matchAll(/require\('(\.[^']+)'\)/g)].map(([, request]) => createRequire(file).resolve(request)).filter(loaded => loaded.endsWith('.js'))
}

/**
 * What a file loads from this repository, through how many others.
 *
 * @param {string} file
 * @returns {Map<string, number>}
 */
function loadedBy (file) {
  const found = new Map()
  let files = [file]
  for (let away = 0; files.length > 0; away++) {
    files = [...new Set(files.flatMap(loadedNow))].filter(loaded => !found.has(loaded))
    for (const loaded of files) found.set(loaded, away)
  }
  return found
}

/** @type {import('node:child_process').ChildProcess | null} */
let runner = null

/**
 * @param {string} test @param {object | null} mutant @param {number} withinMs
 * @returns {Promise<boolean>} whether it fails; one that does not end has failed, too
 */
async function fails (test, mutant, withinMs) {
  const of = runner?.connected ? runner : fork(RUNNER, { cwd: ROOT, stdio: 'ignore', env: { ...process.env, PLAN_RUNS: '200' } })
  const isFresh = of !== runner
  runner = of
  const ended = new AbortController()
  const answered = Promise.race([once(of, 'message', ended), once(of, 'exit', ended)])
  let isLate = false
  const timer = setTimeout(() => { isLate = of.kill('SIGKILL') }, withinMs)
  of.send({ test, mutant }, () => {})
  const [answer] = await answered
  ended.abort()
  clearTimeout(timer)
  if (answer?.isClean) return answer.fails
  of.kill('SIGKILL')
  runner = null
  // What ended the process may have been left over from the test before.
  return typeof answer === 'object' && answer !== null ? answer.fails : isLate || isFresh || fails(test, mutant, withinMs)
}

/** @type {Map<string, number>} */
const times = new Map()

/** @param {string} test @returns {Promise<number>} how long it takes without a mutant, ms */
async function timeOf (test) {
  const known = times.get(test)
  if (known !== undefined) return known
  const startedAt = Date.now()
  if (await fails(test, null, TIME_MS)) throw new Error(`${path.relative(ROOT, test)} fails without a mutant`)
  times.set(test, Date.now() - startedAt)
  return Date.now() - startedAt
}

/** @param {string} source @param {import('./mutants').Mutant} mutant @returns {string} the line with the fault in it */
function shownIn (source, { start, end, with: replacement }) {
  const from = source.lastIndexOf('\n', start) + 1
  return `${source.slice(from, start)}[${source.slice(start, end).split('\n')[0]} -> ${replacement}]${source.slice(end).split('\n')[0]}`.trim()
}

async function main () {
  exitOnBadFlag('mutate')
  const { sample, seed, only, own } = readFlags({ sample: '950', seed: '1', only: { default: '' }, own: false }, {}, process.argv.slice(2))
  const tests = FAST.flatMap(place => filesIn(place, '.test.js')).map(test => ({ test, loads: loadedBy(test) }))
  const next = seeded(Number(seed))
  const files = TESTED.flatMap(place => filesIn(place, '.js')).filter(file => only.split(',').some((/** @type {string} */ words) => file.includes(words)))
  const mutants = files.flatMap(file => mutantsOf(fs.readFileSync(file, 'utf8')).map(mutant => ({ file, ...mutant })))
    .map(mutant => ({ mutant, order: next() })).sort((a, b) =>
      a.order - b.order).slice(0, Number(sample)).map(({ mutant }) => mutant)
    .sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start)

  let killed = 0
  for (const file of new Set(mutants.map(({ file }) => file))) {
    /** @type {Map<string, number>} */
    const using = new Map()
    const loading = tests.filter(({ loads }) => loads.has(file))
      .map(({ test, loads }) => ({ test, away: Number(loads.get(file)) }))
    const nearest = Math.min(...loading.map(({ away }) => away))
    for (const { test, away } of loading) if (!own || away === nearest) using.set(test, await timeOf(test))
    const name = path.basename(file, '.js')
    const order = [...using.keys()].sort((a, b) => Number(using.get(a)) - Number(using.get(b)))
    order.sort((a, b) => Number(path.basename(b, '.test.js') === name) - Number(path.basename(a, '.test.js') === name))
    const of = mutants.filter(mutant => mutant.file === file)
    const survivors = []
    for (const mutant of of) {
      let noticedBy = null
      for (const test of order) {
        if (await fails(test, mutant, SLOWER * Number(using.get(test)) + 2000)) noticedBy = test
        if (noticedBy !== null) break
      }
      if (noticedBy === null) survivors.push(mutant)
      else killed++
    }
    console.log(`${path.relative(ROOT, file)}: ${of.length - survivors.length} of ${of.length}${using.size === 0 ? ', no test loads it' : ''}`)
    const source = fs.readFileSync(file, 'utf8')
    for (const mutant of survivors) console.log(`  ${mutant.line}: ${shownIn(source, mutant)}`)
  }
  console.log(`\n${killed} of ${mutants.length} mutants noticed: ${(100 * killed / mutants.length).toFixed(1)} %`)
}

main().finally(() => runner?.kill('SIGKILL'))
