'use strict'

/**
 * How many workers a fleet with `--workers <min>..<max>` is to have, by its load. The load is counted in workers: the
 * sum of their event-loop utilisations says how many event loops are kept busy.
 *
 *     more    busy for 3 s above 0.8 of all workers      as many as bring that to 0.65; twice as many where all are
 *                                                        saturated
 *     fewer   never above 0.5 of one worker fewer,       one at a time
 *             for two minutes, or ten boot times
 *
 * Workers that boot are counted as workers, so that an app that boots slowly does not get more of them meanwhile. The
 * gap between 0.5 and 0.8 keeps the number steady. Pure; a journal has all inputs (`fleet.load`), and
 * test/features/elastic/decide.test.js decides by them again.
 *
 * @typedef {object} Load one look at the fleet
 * @property {number} atMs by any clock that only goes forward
 * @property {number} workers that there are to be
 * @property {number} serving
 * @property {number} busy sum of the event-loop utilisations of those that serve
 * @property {number} requestsPerSecond
 * @property {number} bootMs how long a worker takes to boot
 * @property {number | null} fitting how many more workers the memory has room for; null: not known
 *
 * @typedef {object} History
 * @property {readonly Load[]} recent of the last seconds, the oldest first
 * @property {readonly { fromMs: number, busy: number, looks: number }[]} steps the longer past, as means
 * @property {number} changedAt when `workers` changed
 * @property {number | null} settledAt when all of them served for the first time since; null: they have not yet
 *
 * @typedef {object} Decision
 * @property {number} workers
 * @property {'busy' | 'idle' | 'bounds' | 'no-room'} reason `bounds`: the number was outside of them; `no-room`: more
 *   are needed, and the memory has no room for one
 * @property {number} busy what it was decided by
 */

const HIGH = 0.8
const TARGET = 0.65
const LOW = 0.5
const SATURATED = 0.95
const BUSY_MS = 3000
const IDLE_MS = 120_000
const IDLE_BOOTS = 10
const LONGEST_IDLE_MS = 600_000
const BETWEEN_MS = 15_000 // two workers that leave
const STEP_MS = 5000

/** @type {History} */
const NO_HISTORY = Object.freeze({ recent: [], steps: [], changedAt: -Infinity, settledAt: null })

/** @param {History} history @param {Load} load a later one than all before @returns {History} */
function pushLoad (history, load) {
  const { atMs, workers, serving, busy } = load
  // This process slept, or did not run the fleet
  if (atMs - (history.recent.at(-1)?.atMs ?? atMs) > BUSY_MS) history = NO_HISTORY
  const isChanged = history.recent.at(-1)?.workers !== workers
  const changedAt = isChanged ? atMs : history.changedAt
  const settledAt = (isChanged ? null : history.settledAt) ?? (serving >= workers ? atMs : null)
  // A look before those of the last seconds tells that they are covered.
  const from = history.recent.findLastIndex(({ atMs: at }) => at <= atMs - BUSY_MS)
  const recent = [...history.recent.slice(Math.max(0, from)), load]
  const last = history.steps.at(-1)
  const steps = last && atMs - last.fromMs < STEP_MS
    ? [...history.steps.slice(0, -1), {
        ...last, busy: (last.busy * last.looks + busy) / (last.looks + 1), looks: last.looks + 1
      }]
    : [...history.steps.filter(({ fromMs }) => fromMs > atMs - LONGEST_IDLE_MS - 2 * STEP_MS), {
        fromMs: atMs, busy, looks: 1
      }]
  return { recent, steps, changedAt, settledAt }
}

/**
 * @param {History} history @param {{ min: number, max: number }} bounds
 * @returns {Decision | null} null: as many as there are
 */
function decide (history, { min, max }) {
  const latest = history.recent.at(-1)
  if (!latest) return null
  const { workers, busy } = latest
  const within = Math.max(min, Math.min(max, workers))
  return within === workers
    ? moreFor(history, latest, max) ?? fewerFor(history, latest, min)
    : { workers: within, reason: 'bounds', busy }
}

/** @param {History} history @param {Load} latest @param {number} max @returns {Decision | null} */
function moreFor ({ recent, changedAt, settledAt }, { atMs, workers, fitting }, max) {
  // Load from before the workers of the last change were there says nothing of what they can do.
  const looks = recent.filter(look => look.atMs > atMs - BUSY_MS)
  if (looks.length === recent.length || looks[0].atMs <= (settledAt ?? changedAt)) return null
  const busy = round(looks.reduce((sum, look) => sum + look.busy, 0) / looks.length)
  if (busy <= HIGH * workers) return null
  // Saturated workers do not show how much more there is to do.
  const isSaturated = settledAt !== null && busy >= SATURATED * workers
  const needed = Math.max(Math.ceil(busy / TARGET), isSaturated ? 2 * workers : workers)
  const to = Math.min(needed, max, workers + (fitting ?? Infinity))
  if (to > workers) return { workers: to, reason: 'busy', busy }
  return fitting === 0 && max > workers ? { workers, reason: 'no-room', busy } : null
}

/** @param {History} history @param {Load} latest @param {number} min @returns {Decision | null} */
function fewerFor ({ steps, changedAt }, { atMs, workers, bootMs }, min) {
  const idleMs = Math.min(LONGEST_IDLE_MS, Math.max(IDLE_MS, IDLE_BOOTS * bootMs))
  if (workers <= min || atMs < changedAt + BETWEEN_MS || steps[0].fromMs > atMs - idleMs) return null
  const busy = round(Math.max(...steps.filter(({ fromMs }) => fromMs > atMs - idleMs - STEP_MS).map(step => step.busy)))
  return busy < LOW * (workers - 1) ? { workers: workers - 1, reason: 'idle', busy } : null
}

/**
 * Which slots leave first: those whose worker does the least. The first slot stays: an app may do there what one worker
 * alone is to do.
 * @param {readonly { slot: number, busy: number, connections: number }[]} slots with what their workers do; 0 where
 *   none serves
 * @returns {number[]} their numbers
 */
function leastLoaded (slots) {
  const first = Math.min(...slots.map(({ slot }) => slot))
  const tenths = (/** @type {number} */ busy) => Math.round(10 * busy) // smaller differences are noise
  return slots.filter(({ slot }) => slot !== first)
    .sort((a, b) => tenths(a.busy) - tenths(b.busy) || a.connections - b.connections || b.slot - a.slot)
    .map(({ slot }) => slot)
}

/** @param {number} busy as a journal has it */
const round = busy => Math.round(1000 * busy) / 1000

module.exports = { NO_HISTORY, HIGH, pushLoad, decide, leastLoaded }
