'use strict'

/**
 * npm run mutate [-- --sample 950] [--seed 1] [--only <words of a file's path>]: what the tests without a fleet notice.
 *
 * Each mutant is a small fault in the pure core, a feature's pure part or the ledger. The tests that load its file are run until one fails: that of
 * the same name first. Those that no test notices are listed: each is a test that is missing, a line that is not needed, or the same program.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { readFlags, exitOnBadFlag } = require('../../bench/support/flags')
const { mutantsOf } = require('./mutants')

const ROOT = path.join(__dirname, '..', '..')
const TESTED = ['lib/core', 'lib/features', 'lib/primary/handoff/ledger.js']
const FAST = ['test/core', 'test/features', 'test/journal', 'test/worker', 'test/primary/handoff', 'test/report', 'test/control']
const LOADER = path.join(__dirname, 'loader.js')
const TIME_MS = 60_000 // a mutant may loop for ever

/** @param {string} place a file or a folder, from the root @param {string} ending @returns {string[]} absolute */
function filesIn (place, ending) {
  const absolute = path.join(ROOT, place)
  if (!fs.statSync(absolute).isDirectory()) return [absolute]
  return fs.readdirSync(absolute, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith(ending)).map(name => path.join(absolute, name)).sort()
}

/** What a file loads from this repository, through all others. @param {string} file @param {Set<string>} [found] */
function loadedBy (file, found = new Set()) {
  for (const [, request] of fs.readFileSync(file, 'utf8').matchAll(/require\('(\.[^']+)'\)/g)) {
    const loaded = createRequire(file).resolve(request)
    if (!loaded.endsWith('.js') || found.has(loaded)) continue
    found.add(loaded)
    loadedBy(loaded, found)
  }
  return found
}

/** @param {string} test @param {object} mutant @returns {Promise<boolean>} it fails */
async function fails (test, mutant) {
  const child = spawn(process.execPath, ['--require', LOADER, test], { cwd: ROOT, stdio: 'ignore', env: { ...process.env, MUTANT: JSON.stringify(mutant), TAP_BAIL: '1', PLAN_RUNS: '200' } })
  const timer = setTimeout(() => child.kill('SIGKILL'), TIME_MS)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  return code !== 0
}

/** @param {number} seed @returns {() => number} 0 to 1 */
function random (seed) {
  let state = seed
  return () => { // mulberry32
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function main () {
  exitOnBadFlag('mutate')
  const { sample, seed, only } = readFlags({ sample: '950', seed: '1', only: { default: '' } }, {}, process.argv.slice(2))
  const tests = FAST.flatMap(place => filesIn(place, '.test.js')).map(test => ({ test, loads: loadedBy(test) }))
  const next = random(Number(seed))
  const files = TESTED.flatMap(place => filesIn(place, '.js')).filter(file => file.includes(only))
  const mutants = files.flatMap(file => mutantsOf(fs.readFileSync(file, 'utf8')).map(mutant => ({ file, ...mutant })))
    .map(mutant => ({ mutant, order: next() })).sort((a, b) => a.order - b.order).slice(0, Number(sample)).map(({ mutant }) => mutant)
    .sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start)

  let killed = 0
  for (const file of new Set(mutants.map(({ file }) => file))) {
    const own = path.basename(file, '.js')
    const others = tests.filter(({ loads }) => loads.has(file)).sort((a, b) => a.loads.size - b.loads.size).map(({ test }) => test)
    const using = [...others].sort((a, b) => Number(path.basename(b, '.test.js') === own) - Number(path.basename(a, '.test.js') === own))
    const of = mutants.filter(mutant => mutant.file === file)
    const survivors = []
    for (const mutant of of) {
      let isNoticed = false
      for (const test of using) {
        isNoticed = await fails(test, mutant)
        if (isNoticed) break
      }
      if (isNoticed) killed++
      else survivors.push(mutant)
    }
    console.log(`${path.relative(ROOT, file)}: ${of.length - survivors.length} of ${of.length}${using.length === 0 ? ', no test loads it' : ''}`)
    const source = fs.readFileSync(file, 'utf8')
    for (const { line, kind, start, end, with: replacement } of survivors) {
      console.log(`  ${line}: ${kind}: ${source.slice(start, end).split('\n')[0].slice(0, 80)} -> ${replacement}`)
    }
  }
  console.log(`\n${killed} of ${mutants.length} mutants noticed: ${(100 * killed / mutants.length).toFixed(1)} %`)
}

main()
