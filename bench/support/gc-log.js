'use strict'

/** Counts from the output of `--trace-gc` in the workers. gc-trace.js writes it to files. */

const fs = require('node:fs')
const path = require('node:path')

// Each of these is one line:
//
//   [29489:0x1de043d0]     1228 ms: Scavenge 4.7 (6.2) -> 4.5 (5.5) MB, 14.14 / 0.00 ms  (average mu = …)
//     allocation failure;
//   [31598:0x40f933d]  806 ms: Incremental Mark-Compact 71.1 (89.6) -> 59.4 (81.0) MB, pooled: 0.0 MB, 12.23 / 0.00 ms
//     (+ 1.3 ms in 54 steps …) (average mu = …) finalize incremental marking via task; GC in old space requested
//     (Node 26)
//   [3150:0x4552315]  138 ms: Mark-Compact (reduce) 48.8 (80.8) -> 46.1 (80.2) MB, pooled: 0 MB, 17.69 / 0.00 ms
//     (+ 0.1 ms in 2 steps …) (average mu = …) finalize incremental marking via task; external memory limit
const LINE = /(?<at>[\d.]+) ms: (?:Incremental )?(?<kind>Scavenge|Mark-Compact|Mark-sweep|Minor Mark-\w+)[^>]*->.*? MB, (?:pooled: [\d.]+ MB, )?(?<pause>[\d.]+) \/ [\d.]+ ms\s*(?:\(\+ (?<steps>[\d.]+) ms in \d+ steps)?.*?\((?:average|mu)[^)]*\)\s*(?<reason>.*?);?\s*$/
const COLLECTION = / ms: .+ -> .+ MB, /

/**
 * @typedef {object} Collection
 * @property {number} t ms since the epoch
 * @property {boolean} isMajor
 * @property {number} pauseMs in one piece
 * @property {number} totalMs with the steps before it, on the main thread
 * @property {string} reason
 */

/**
 * @param {string} text a worker's file
 * @returns {Collection[]}
 * @throws {Error} a collection is printed in a form that is not known
 */
function parseTrace (text) {
  const [epoch, ...lines] = text.split('\n')
  return lines.flatMap((line, i) => {
    const found = LINE.exec(line)?.groups
    if (!found) {
      const isWhole = i < lines.length - 1 // the last line may be incomplete: its worker was killed
      if (isWhole && COLLECTION.test(line)) throw new Error(`a line of --trace-gc that is not known: ${line}`)
      return []
    }
    const { at, kind, pause, steps, reason } = found
    return [{ t: Number(epoch) + Number(at), isMajor: kind.startsWith('Mark'), pauseMs: Number(pause), totalMs: Number(pause) + Number(steps ?? 0), reason: reason.replace(/; GC in old space requested$/, '') }]
  })
}

/**
 * @param {string} folder one file a worker, also of those that have been replaced
 * @param {{ from: number, to: number }} window ms since the epoch
 */
function readTraces (folder, { from, to }) {
  const all = fs.readdirSync(folder).flatMap(name => parseTrace(fs.readFileSync(path.join(folder, name), 'latin1'))).filter(({ t }) => t >= from && t <= to)
  const minor = all.filter(({ isMajor }) => !isMajor)
  const major = all.filter(({ isMajor }) => isMajor)
  /** @type {Record<string, number>} */
  const reasons = {}
  for (const { reason } of major) reasons[reason] = (reasons[reason] ?? 0) + 1
  return {
    scavenges: minor.length,
    scavengeMs: total(minor),
    longestScavengeMs: longest(minor),
    markSweeps: major.length,
    markSweepMs: total(major),
    longestMarkSweepMs: longest(major),
    reasons
  }
}

/**
 * The reasons of each profile's mark-sweeps, over all its rounds.
 *
 * @param {{ subjects: { name: string, rounds: (Record<string, any> | null)[] }[] }} group of the results
 * @returns {string[]} a sentence for each profile with mark-sweeps
 */
function reasonsOf ({ subjects }) {
  return subjects.flatMap(({ name, rounds }) => {
    /** @type {Map<string, number>} */
    const counts = new Map()
    for (const figures of rounds) {
      for (const [reason, count] of Object.entries(figures?.reasons ?? {})) {
        counts.set(reason, (counts.get(reason) ?? 0) + Number(count))
      }
    }
    const said = [...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} × ${reason}`)
    return said.length ? [`${name} mark-swept: ${said.join(', ')}`] : []
  })
}

/** @param {Collection[]} list */
const total = list => list.reduce((sum, { totalMs }) => sum + totalMs, 0)

/** @param {Collection[]} list */
const longest = list => list.reduce((most, { pauseMs }) => Math.max(most, pauseMs), 0)

module.exports = { parseTrace, readTraces, reasonsOf }
