'use strict'

/**
 * The frame of every bench: subjects are measured in turn, round by round, in one run.
 *
 *     round 1: A B C    round 2: B C A    round 3: C A B    …
 *
 * The speed of a machine varies from minute to minute, so two subjects are compared within a round. The result is the
 * median of those ratios, with their spread.
 *
 *     const { openBench } = require('./support/rounds')
 *
 *     const bench = openBench({
 *       name: 'meter',                                     // npm run bench:meter, results/meter-node<major>.json
 *       options: { connections: '50', tls: false },        // flags beside the common ones; see flags.js
 *       quick: { connections: '4' },                       // their values by --quick
 *       saveAs: values => values.tls ? 'meter-tls' : 'meter' // where one bench has several results files
 *     })
 *     const { values } = bench                             // parsed: values.connections, values.rounds, …
 *     await bench.run({
 *       groups: [{
 *         name: 'keep-alive',                              // a table of its own
 *         subjects: {
 *           bare: async () => ({ rps: 1000, p99: 2 }),     // starts it, warms it up, measures, stops it
 *           mine: async ({ round, group, say }) => ({ … }) // any JSON; the keys of columns are numbers
 *         },
 *         beside: ['bare'],                                // ratios are to this one; of several, to the better one
 *         by: 'rps'                                        // better in this column; unless told, in the first
 *       }],
 *       columns: [{ key: 'rps', title: 'requests/s', ratio: true }], // see results.js
 *       goals: [                                           // each may name one `group`, and another `beside`
 *         { subject: 'mine', key: 'rps', ratioAtLeast: 0.98 },       // or ratioAtMost, atMost, atLeast
 *         { subject: 'mine', key: 'mib', above: 8 },       // at most 8 more than `beside`
 *         { key: 'dropped', atMost: 0 }                    // without a subject: the sum over all measurements
 *       ],
 *       plot: { key: 'rps', title: 'Throughput', ratio: true }       // of the results page; see plot.js
 *     })
 *
 * Common flags: --rounds <n> (5); --quick (one short round, which shows that the bench works and no more); --only
 * <regex> (of "group / subject"; what a subject is compared with stays in); --out <file>; --help. --quick and --only
 * save nothing unless --out is given. Bad input is refused by one sentence, with exit code 2.
 *
 * One subject is warmed up before the first round. A missed goal is printed and saved; the exit code is 0 all the same.
 */

const path = require('node:path')
const { exitOnBadFlag, readFlags, BadFlag } = require('./flags')
const { answerHelp } = require('./help')
const { describeMachine, machineLine } = require('./machine')
const { Progress } = require('./progress')
const { RESULTS, ResultsFile } = require('./results-file')
const { resultTables, judge, headingOf } = require('./results')
const { alignTable } = require('./table')

/**
 * @typedef {Record<string, any>} Figures
 * @typedef {{ round: number, group: string, say: (text: string) => void }} At `say`: progress, printed beside the bar
 * @typedef {object} Group
 * @property {string} name
 * @property {Record<string, (at: At) => Promise<Figures>>} subjects
 * @property {string[]} [beside]
 * @property {string} [by]
 * @property {() => Promise<void>} [prepare] called once a run, before the group's first round
 *
 * @typedef {{ name: string, options?: import('./flags').Flags, quick?: Record<string, string>,
 *   saveAs?: (values: Record<string, any>) => string }} About
 */

class Bench {
  #isWarm

  /** @param {About} about @param {string[]} argv @throws {BadFlag} as run() does */
  constructor ({ name, options = {}, quick = {}, saveAs = () => name }, argv) {
    this.name = name
    const flags = { rounds: '5', ...options, quick: false, only: { default: '' }, out: { default: '' } }
    answerHelp(flags, argv)
    this.values = readFlags(flags, { rounds: '1', ...quick }, argv)
    this.rounds = Math.round(Number(this.values.rounds))
    this.#isWarm = this.values.quick
    this.savedAs = saveAs(this.values)
    const isPublished = !this.values.quick && !this.values.only
    this.file = new ResultsFile(this.values.out || (isPublished ? path.join(RESULTS, `${this.savedAs}-node${process.versions.node.split('.')[0]}.json`) : null))
  }

  /**
   * @param {{ groups: Group[], columns: any[], goals?: any[], plot?: any, note?: string }} what
   * @returns {Promise<any>} the results
   */
  async run ({ groups, columns, goals = [], plot, note }) {
    const { quick, out, only, ...settings } = this.values
    const machine = describeMachine()
    const chosen = choose(groups, only)
    const results = {
      v: 1,
      bench: this.savedAs,
      date: new Date().toISOString(),
      machine,
      settings,
      note,
      columns,
      goals,
      plot,
      groups: /** @type {import('./results').Group[]} */ ([])
    }
    const progress = new Progress(this.rounds *
      chosen.reduce((sum, { subjects }) => sum + Object.keys(subjects).length, 0))
    console.log(`bench:${this.name}, ${this.rounds} ${this.rounds === 1 ? 'round' : 'rounds'}\n${machineLine(machine)}`)
    const breakOff = () => {
      console.error(`\nbench:${this.name} was interrupted.`)
      process.exit(130) // its exit handlers end the servers
    }
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, breakOff)
    for (const group of chosen) results.groups.push(await this.#measure(group, progress))
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, breakOff)
    for (const group of results.groups) console.log(`\n${headingOf(group, columns)}\n${resultTables(group, columns).map(alignTable).join('\n')}`)
    for (const { text, isMet } of judge(results)) console.log(`${isMet ? 'goal met:   ' : 'goal missed:'} ${text}`)
    this.file.save(results)
    if (this.file.file) console.log(`\nsaved to ${path.relative('', this.file.file)}`)
    return results
  }

  /** @param {Group} group @param {Progress} progress @returns {Promise<import('./results').Group>} */
  async #measure ({ name, subjects, beside = [], by, prepare }, progress) {
    const measured = Object.keys(subjects).map(name => ({ name, rounds: /** @type {Figures[]} */ ([]) }))
    await prepare?.()
    for (let round = 0; round < this.rounds; round++) {
      for (let i = 0; i < measured.length; i++) {
        const subject = measured[(i + round) % measured.length]
        progress.step(`${name} / ${subject.name}`)
        const at = { group: name, say: (/** @type {string} */ text) => progress.say(text) }
        if (!this.#isWarm) await subjects[subject.name]({ ...at, round: -1 })
        this.#isWarm = true
        subject.rounds.push(await subjects[subject.name]({ ...at, round }))
        progress.done()
      }
    }
    return { name, beside, by, subjects: measured }
  }
}

/** @param {Group[]} groups @param {string} only @throws {BadFlag} */
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
    const subjects = Object.entries(group.subjects)
      .filter(([name]) => wanted.length && (wanted.includes(name) || group.beside?.includes(name)))
    return { ...group, subjects: Object.fromEntries(subjects) }
  }).filter(({ subjects }) => Object.keys(subjects).length > 0)
  if (chosen.length === 0) {
    const all = groups.flatMap(group => Object.keys(group.subjects).map(name => `${group.name} / ${name}`))
    throw new BadFlag(`--only takes a pattern that matches some of ${all.slice(0, 3).join('; ')}${all.length > 3 ? `; and ${all.length - 3} more` : ''}; it is "${only}"`)
  }
  return chosen
}

/**
 * A value that all subjects of a group share in a round, made at the first call.
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

/** @param {About} about @param {string[]} [argv] */
function openBench (about, argv = process.argv.slice(2)) {
  exitOnBadFlag(`bench:${about.name}`)
  return new Bench(about, argv)
}

module.exports = { openBench, oncePerRound, Bench }
