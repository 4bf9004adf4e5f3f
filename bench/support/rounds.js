'use strict'

/**
 * The frame of every bench: subjects measured in turn, again and again, in one run.
 *
 *     round 1: A B C    round 2: B C A    round 3: C A B    …
 *
 * A machine is faster in one minute than in the next, so a subject is compared with another within a round, and the median
 * of those ratios is what is said; beside it their spread.
 *
 *     const { openBench } = require('./support/rounds')
 *
 *     const bench = openBench({
 *       name: 'meter',                                    // results/meter-node<major>.json
 *       options: { connections: '50', pin: false },       // flags beside the common ones, with defaults: texts or booleans
 *       quick: { connections: '4' }                       // what --quick makes of them
 *     })
 *     const { values } = bench                            // parsed: values.connections, values.rounds, values.quick, …
 *     await bench.run({
 *       groups: [{
 *         name: 'keep-alive',                             // a table of its own
 *         subjects: {
 *           bare: async () => ({ rps: 1000, p99: 2 }),    // starts it, warms it up, measures, stops it; resolves with figures
 *           mine: async ({ round, group }) => ({ … })     // any JSON; what the columns name must be numbers
 *         },
 *         beside: ['bare']                                // ratios beside it; of several, beside the one that is better in the first column
 *       }],
 *       columns: [
 *         { key: 'rps', title: 'requests/s', digits: 0, ratio: true },               // `ratio`: also beside `beside`
 *         { key: 'p99', title: 'p99 ms', digits: 1, ratio: true, less: true },       // `less`: less is better
 *         { key: 'dropped', title: 'dropped', digits: 0, total: true }               // `total`: the sum over the rounds, not the median
 *       ],
 *       //  `set: 'memory'` puts a column into another table of that group; `brief`: the median without its spread
 *       goals: [{ subject: 'mine', key: 'rps', ratioAtLeast: 0.98 }],                // or ratioAtMost, above (at most so much more than `beside`),
 *                                                                                    // atMost, atLeast; each in one group alone: { group: 'keep-alive' };
 *                                                                                    // without a subject: the sum over all of them
 *       plots: [{ key: 'rps', title: 'Throughput', ratio: true }]                    // for the README, see plot.js; else the first column
 *     })
 *
 * Common flags: --quick (one short round, saved only where --out says), --rounds <n> (5), --only <regex> (of "group / subject"; what
 * is compared with stays in), --minutes <n> (no round is begun after that; groups are done in their order, so put first what
 * matters), --out <file>, --resume (goes on with what --out holds, if it was taken with the same flags).
 *
 * One subject is warmed up and thrown away before the first round. Results are saved after each measurement. A goal is printed, kept and
 * never enforced: the exit code is 0 also where it is missed.
 */

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { describeMachine, machineLine } = require('./machine')
const { Progress } = require('./progress')
const { resultTables, judge, besideOf } = require('./results')
const { alignTable } = require('./table')

const RESULTS = path.join(__dirname, '..', 'results')

/**
 * @typedef {Record<string, any>} Figures
 * @typedef {object} Group
 * @property {string} name
 * @property {Record<string, (at: { round: number, group: string }) => Promise<Figures>>} subjects
 * @property {string[]} [beside]
 * @property {() => Promise<void>} [prepare] called once, before its first round
 */

class Bench {
  /** @param {{ name: string, options?: Record<string, string | boolean>, quick?: Record<string, string> }} about @param {string[]} argv */
  constructor ({ name, options = {}, quick = {} }, argv) {
    this.name = name
    const defaults = { rounds: '5', ...options }
    const { values: given } = parseArgs({
      args: argv,
      options: {
        ...Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, { type: typeof value === 'boolean' ? 'boolean' : 'string' }])),
        quick: { type: 'boolean' },
        resume: { type: 'boolean' },
        only: { type: 'string' },
        minutes: { type: 'string' },
        out: { type: 'string' }
      }
    })
    /** @type {Record<string, any>} */
    this.values = { ...defaults, ...(given.quick ? { rounds: '1', ...quick } : {}), ...given }
    this.rounds = Number(this.values.rounds)
    if (!(Number.isInteger(this.rounds) && this.rounds > 0)) throw new Error(`--rounds takes a whole number from 1; it is ${this.values.rounds}`)
    this.out = this.values.out ?? (this.values.quick ? null : path.join(RESULTS, `${name}-node${process.versions.node.split('.')[0]}.json`))
  }

  /** @param {{ groups: Group[], columns: any[], goals?: any[], plots?: any[], note?: string }} what @returns {Promise<any>} what is saved */
  async run ({ groups, columns, goals = [], plots, note }) {
    const exit = () => process.exit(1) // by which servers are ended too
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, exit)
    const { quick, resume, out, minutes, only, ...settings } = this.values
    const machine = describeMachine()
    console.log(`bench:${this.name}, ${this.rounds} ${this.rounds === 1 ? 'round' : 'rounds'}\n${machineLine(machine)}`)
    const chosen = choose(groups, only)
    const kept = resume ? this.#kept(settings) : null
    const results = {
      v: 1,
      bench: this.name,
      date: new Date().toISOString(),
      machine,
      settings,
      note,
      columns,
      goals,
      plots,
      groups: chosen.map(({ name, subjects, beside = [] }) => ({
        name,
        beside,
        subjects: Object.keys(subjects).map(subject => ({
          name: subject,
          rounds: /** @type {(Figures | null)[]} */ (kept?.groups.find((/** @type {any} */ g) => g.name === name)?.subjects.find((/** @type {any} */ s) => s.name === subject)?.rounds ?? [])
        }))
      }))
    }
    const until = minutes ? Date.now() + Number(minutes) * 60_000 : Infinity
    const progress = new Progress(this.rounds * chosen.reduce((sum, { subjects }) => sum + Object.keys(subjects).length, 0))
    let isWarm = Boolean(quick)
    for (const [g, group] of chosen.entries()) {
      const names = Object.keys(group.subjects)
      const isWhole = (/** @type {number} */ round) => results.groups[g].subjects.every(({ rounds }) => rounds[round])
      if (Array.from({ length: this.rounds }, (_, round) => isWhole(round)).every(Boolean) || Date.now() >= until) continue
      await group.prepare?.()
      for (let round = 0; round < this.rounds; round++) {
        if (Date.now() >= until) break
        for (let i = 0; i < names.length; i++) {
          const name = names[(i + round) % names.length]
          const { rounds } = results.groups[g].subjects[(i + round) % names.length]
          progress.step(`${group.name} / ${name}`)
          if (!isWarm) await group.subjects[name]({ round: -1, group: group.name })
          isWarm = true
          rounds[round] ??= await group.subjects[name]({ round, group: group.name })
          progress.done()
          this.#save(results)
        }
      }
    }
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, exit)
    for (const group of results.groups) {
      const tables = resultTables(group, columns)
      const other = besideOf(group, columns)
      if (tables.length) console.log(`\n${group.name}${other ? `, beside ${other}` : ''}\n${tables.map(alignTable).join('\n')}`)
    }
    for (const { text, isMet } of judge(results)) console.log(`${isMet ? 'goal met:   ' : 'goal missed:'} ${text}`)
    this.#save(results)
    if (this.out) console.log(`\nsaved to ${path.relative('', this.out)}`)
    return results
  }

  /** @param {any} results */
  #save (results) {
    if (!this.out) return
    fs.mkdirSync(path.dirname(this.out), { recursive: true })
    const rounded = (/** @type {string} */ _, /** @type {any} */ value) => typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
    fs.writeFileSync(this.out, `${JSON.stringify(results, rounded, 1).replace(/\n {5,}/g, ' ').replace(/ (\n {4})([\]}])/g, '$1$2')}\n`)
  }

  /** @param {Record<string, any>} settings */
  #kept (settings) {
    if (!this.out || !fs.existsSync(this.out)) return null
    const kept = JSON.parse(fs.readFileSync(this.out, 'utf8'))
    const isSame = JSON.stringify({ ...kept.settings, rounds: 0 }) === JSON.stringify({ ...settings, rounds: 0 }) && kept.machine.node === process.version
    if (!isSame) throw new Error(`${this.out} was taken with other flags or another Node; move it away or leave --resume out`)
    return kept
  }
}

/**
 * @param {Group[]} groups
 * @param {string | undefined} only
 */
function choose (groups, only) {
  if (!only) return groups
  const pattern = new RegExp(only)
  const chosen = groups.map(group => {
    const wanted = Object.keys(group.subjects).filter(name => pattern.test(`${group.name} / ${name}`))
    const subjects = Object.entries(group.subjects).filter(([name]) => wanted.length && (wanted.includes(name) || group.beside?.includes(name)))
    return { ...group, subjects: Object.fromEntries(subjects) }
  }).filter(({ subjects }) => Object.keys(subjects).length > 0)
  if (chosen.length === 0) throw new Error(`--only ${only} matches nothing of: ${groups.flatMap(group => Object.keys(group.subjects).map(name => `${group.name} / ${name}`)).join(', ')}`)
  return chosen
}

/** @param {ConstructorParameters<typeof Bench>[0]} about @param {string[]} [argv] */
const openBench = (about, argv = process.argv.slice(2)) => new Bench(about, argv)

module.exports = { openBench }
