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
 *       quick: { connections: '4' },                      // what --quick makes of them
 *       selects: ['connections']                          // flags that choose among the groups, and change nothing within one
 *     })
 *     const { values } = bench                            // parsed: values.connections, values.rounds, values.quick, …
 *     await bench.run({
 *       groups: [{
 *         name: 'keep-alive',                             // a table of its own
 *         subjects: {
 *           bare: async () => ({ rps: 1000, p99: 2 }),    // starts it, warms it up, measures, stops it; resolves with figures
 *           mine: async ({ round, group, say }) => ({ … }) // any JSON; what the columns name must be numbers
 *         },
 *         beside: ['bare']                                // ratios beside it; of several, beside the one that is better in the first column, or in the one that `by` names
 *       }],
 *       columns: [
 *         { key: 'rps', title: 'requests/s', digits: 0, ratio: true },               // `ratio`: also beside `beside`
 *         { key: 'p99', title: 'p99 ms', digits: 1, ratio: true, less: true },       // `less`: less is better
 *         { key: 'dropped', title: 'dropped', digits: 0, total: true }               // `total`: the sum over the rounds, not the median
 *       ],
 *       //  `set: 'memory'` puts a column into another table of that group; `brief`: the median without its spread
 *       goals: [{ subject: 'mine', key: 'rps', ratioAtLeast: 0.98 }],                // or ratioAtMost, above (at most so much more than `beside`),
 *                                                                                    // atMost, atLeast; each in one group alone: { group: 'keep-alive' };
 *                                                                                    // `beside` another subject than the group is: { beside: 'bare' };
 *                                                                                    // without a subject: the sum over all of them
 *       plots: [{ key: 'rps', title: 'Throughput', ratio: true }]                    // for the README, see plot.js; else the first column
 *     })
 *
 * What `options` may say of a flag: flags.js. Bad input is refused with one sentence and exit code 2.
 *
 * Common flags: --quick (one short round, whose figures say that it works and no more), --rounds <n> (5), --only <regex> (of "group / subject"; what is compared
 * with stays in), --minutes <n> (no round is begun after that; groups are done in their order, so put first what matters),
 * --out <file>, --resume (goes on with what an earlier run has left, with other groups perhaps; on another machine with groups of its own). --quick and --only are saved only where
 * --out says.
 *
 * One subject is warmed up and thrown away before the first round. Results are saved after each measurement. A goal is printed, kept and
 * never enforced: the exit code is 0 also where it is missed.
 */

const path = require('node:path')
const { Earlier, isWhole } = require('./earlier')
const { readFlags, BadFlag } = require('./flags')
const { describeMachine, isSameMachine, machineLine } = require('./machine')
const { Progress } = require('./progress')
const { ResultsFile } = require('./results-file')
const { resultTables, judge, headingOf } = require('./results')
const { alignTable } = require('./table')

const RESULTS = path.join(__dirname, '..', 'results')

/**
 * @typedef {Record<string, any>} Figures
 * @typedef {{ round: number, group: string, say: (text: string) => void }} At `say`: how far it is, beside the bar
 * @typedef {object} Group
 * @property {string} name
 * @property {Record<string, (at: At) => Promise<Figures>>} subjects
 * @property {string[]} [beside]
 * @property {string} [by] key of the column by which the better of several in `beside` is found; the first
 * @property {() => Promise<void>} [prepare] called once a run, before the group's first round
 */

class Bench {
  /**
   * @param {{ name: string, options?: import('./flags').Flags, quick?: Record<string, string>, selects?: string[] }} about
   * @param {string[]} argv
   * @throws {import('./flags').BadFlag} as run() does
   */
  constructor ({ name, options = {}, quick = {}, selects = [] }, argv) {
    this.name = name
    this.selects = selects
    this.values = readFlags({ rounds: '5', ...options, quick: false, resume: false, only: { default: '' }, minutes: '', out: { default: '' } }, { rounds: '1', ...quick }, argv)
    this.rounds = Math.round(Number(this.values.rounds))
    const isPublished = !this.values.quick && !this.values.only
    const file = this.values.out || (isPublished ? path.join(RESULTS, `${name}-node${process.versions.node.split('.')[0]}.json`) : null)
    this.file = new ResultsFile(file)
  }

  /** @param {{ groups: Group[], columns: any[], goals?: any[], plots?: any[], note?: string }} what @returns {Promise<any>} what is saved */
  async run ({ groups, columns, goals = [], plots, note }) {
    const { quick, resume, out, minutes, only, rounds, ...settings } = this.values // how many rounds it became, each group says
    const machine = describeMachine()
    const chosen = choose(groups, only)
    const earlier = new Earlier(resume ? this.file.earlier(settings, this.selects) : null, machine)
    earlier.assertGoesOn(chosen)
    const breakOff = () => {
      const { partial } = this.file
      console.error(`\nbench:${this.name} was broken off${partial ? `; what it has measured is in ${path.relative('', partial)}, and --resume goes on with it` : ''}.`)
      process.exit(130) // by which servers are ended too
    }
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, breakOff)
    console.log(`bench:${this.name}, ${this.rounds} ${this.rounds === 1 ? 'round' : 'rounds'}\n${machineLine(machine)}`)
    const results = {
      v: 1,
      bench: this.name,
      date: new Date().toISOString(),
      machine,
      settings: earlier.settingsWith(settings, this.selects),
      note,
      columns,
      goals,
      plots,
      groups: [
        ...chosen.map(({ name, subjects, beside = [], by }) => {
          const kept = earlier.keptOf(name, Object.keys(subjects))
          return { name, beside, by, machine: kept.machine ?? machine, subjects: kept.subjects }
        }),
        ...earlier.others(chosen)
      ]
    }
    const atHand = () => ({ ...results, groups: results.groups.map(group => earlier.orKept(group)) })
    const until = minutes ? Date.now() + Number(minutes) * 60_000 : Infinity
    const isMeasured = (/** @type {number} */ g) => Array.from({ length: this.rounds }, (_, round) => isWhole(results.groups[g].subjects, round)).every(Boolean)
    const progress = new Progress(this.rounds * chosen.reduce((sum, { subjects }, g) => sum + (isMeasured(g) ? 0 : Object.keys(subjects).length), 0))
    let isWarm = Boolean(quick)
    for (const [g, group] of chosen.entries()) {
      const names = Object.keys(group.subjects)
      if (isMeasured(g) || Date.now() >= until) continue
      await group.prepare?.()
      for (let round = 0; round < this.rounds; round++) {
        if (Date.now() >= until) break
        for (let i = 0; i < names.length; i++) {
          const name = names[(i + round) % names.length]
          const { rounds } = results.groups[g].subjects[(i + round) % names.length]
          progress.step(`${group.name} / ${name}`)
          const at = { group: group.name, say: (/** @type {string} */ text) => progress.say(text) }
          if (!isWarm) await group.subjects[name]({ ...at, round: -1 })
          isWarm = true
          rounds[round] ??= await group.subjects[name]({ ...at, round })
          progress.done()
          this.file.save(atHand())
        }
      }
    }
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, breakOff)
    const all = atHand()
    for (const group of all.groups) {
      const tables = resultTables(group, columns)
      const where = isSameMachine(group.machine, machine) ? '' : `${machineLine(group.machine)}\n`
      if (tables.length) console.log(`\n${headingOf(group, columns)}\n${where}${tables.map(alignTable).join('\n')}`)
    }
    for (const { text, isMet } of judge(all)) console.log(`${isMet ? 'goal met:   ' : 'goal missed:'} ${text}`)
    this.file.save(all)
    this.file.finish()
    if (this.file.file) console.log(`\nsaved to ${path.relative('', this.file.file)}`)
    return all
  }
}

/**
 * @param {Group[]} groups
 * @param {string | undefined} only
 */
function choose (groups, only) {
  if (!only) return groups
  let pattern = /./
  try {
    pattern = new RegExp(only)
  } catch {
    throw new BadFlag(`--only takes a regular expression; it is "${only}"`)
  }
  const chosen = groups.map(group => {
    const wanted = Object.keys(group.subjects).filter(name => pattern.test(`${group.name} / ${name}`))
    const subjects = Object.entries(group.subjects).filter(([name]) => wanted.length && (wanted.includes(name) || group.beside?.includes(name)))
    return { ...group, subjects: Object.fromEntries(subjects) }
  }).filter(({ subjects }) => Object.keys(subjects).length > 0)
  if (chosen.length === 0) {
    const all = groups.flatMap(group => Object.keys(group.subjects).map(name => `${group.name} / ${name}`))
    throw new BadFlag(`--only takes a pattern that matches some of ${all.slice(0, 3).join('; ')}${all.length > 3 ? `; and ${all.length - 3} more` : ''}`)
  }
  return chosen
}

/**
 * What all subjects of a group have in common in a round, made by the first that asks.
 *
 * @template T
 * @param {() => T} make
 * @returns {(at: Pick<At, 'round'>) => T}
 */
function oncePerRound (make) {
  /** @type {Record<number, T>} */
  const made = {}
  return ({ round }) => (made[round] ??= make())
}

/** @param {ConstructorParameters<typeof Bench>[0]} about @param {string[]} [argv] */
function openBench (about, argv = process.argv.slice(2)) {
  process.once('uncaughtException', error => { // of the script that has opened it, too
    const isBad = error instanceof BadFlag
    console.error(isBad ? `bench:${about.name}: ${error.message}` : error)
    process.exit(isBad ? 2 : 1)
  })
  return new Bench(about, argv)
}

module.exports = { openBench, oncePerRound, Bench }
