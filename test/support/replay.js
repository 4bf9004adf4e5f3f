'use strict'

/** Replays the verdict over the samples of a journal. */

const { verdict } = require('../../lib/tables/reasons')
const { openWindow, pushSample } = require('../../lib/core/window')

/** @typedef {{ pid: number, t: number, reason: string }} Decision */

/**
 * Every first condemnation of a worker, by what the journal says.
 *
 * @param {Record<string, any>[]} lines
 * @returns {Decision[]}
 */
function replay (lines) {
  const workers = new Map()
  /** @type {Decision[]} */
  const decisions = []
  for (const line of lines) {
    const worker = workers.get(line.pid)
    if (line.event === 'worker.spawn') workers.set(line.pid, { budget: line.budget, window: null, isCondemned: false })
    if (line.event === 'worker.budget') worker.budget = line.budget
    if (line.event === 'worker.standby' || line.event === 'worker.ready') worker.window = openWindow()
    if (line.event === 'worker.keep') Object.assign(worker, { window: openWindow(), isCondemned: false })
    if (line.event !== 'worker.sample' || worker.isCondemned) continue
    worker.window = pushSample(worker.window, /** @type {any} */ (line), worker.budget.samples)
    const reason = verdict(worker.window, worker.budget)
    worker.isCondemned = reason !== null
    if (reason !== null) decisions.push({ pid: line.pid, t: line.t, reason })
  }
  return decisions
}

/**
 * The decisions in the journal: each with the sample that it was decided at, the worker's last.
 *
 * @param {Record<string, any>[]} lines
 * @returns {Decision[]}
 */
function decided (lines) {
  const latest = new Map()
  /** @type {Decision[]} */
  const decisions = []
  for (const line of lines) {
    if (line.event === 'worker.sample') latest.set(line.pid, line.t)
    if (line.event === 'worker.condemn') decisions.push({ pid: line.pid, t: latest.get(line.pid), reason: line.reason })
  }
  return decisions
}

module.exports = { replay, decided }
