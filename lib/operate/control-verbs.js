'use strict'

/**
 * The verbs of the control socket, with the results that docs/operating.md has: verb → async function (supervisor,
 * args, progress, client). The return value is sent as `result`, a thrown error as `error`. A verb continues if the
 * client disconnects.
 *
 * `progress` is called with { done, of, line?, waits?, note? }. `line` is the journal's line of the step; `waits`, once
 * a second, the workers that drain, as in the status; `note`: what else it waits for.
 */

const { FEATURES, RELOAD, SIZE_WORDS, VERBS: VERBS_OF_FEATURES, sayWait } = require('../features')
const { badOption } = require('../core/errors')
const { pick } = require('../core/fields')
const { KINDS, readArgs } = require('./control-args')
/** @import { Arg } from './control-args' */
/** @import { Line } from '../journal/sentence' */

const WAITS_EVERY_MS = 1000

/**
 * @typedef {(progress: { done: number, of: number, line?: Line, waits?: Record<string, unknown>[], note?: string }) =>
 *   void} Progress
 *
 * @typedef {object} Asking the client of a `follow`
 * @property {{ last: (count: number) => Line[] }} recent the last lines of the journal, without samples
 * @property {(line: Line) => void} onEvent
 * @property {AbortSignal} signal aborted when the client disconnects
 *
 * @typedef {import('../primary/supervisor').Supervisor & Record<string, any>} Supervised with the commands of features
 */

/**
 * @typedef {object} Verb
 * @property {Record<string, Arg>} [args] by name
 * @property {true} [waits] for workers that drain, which the client is told
 * @property {(supervisor: Supervised, args: Record<string, any>, progress: Progress, asking: Asking) =>
 *   Promise<unknown>} run
 */

/** @type {[string, Verb][]} */
const OF_FEATURES = VERBS_OF_FEATURES.map(([name, { args, carryOut }]) => [name, {
  args: args(KINDS),
  waits: true,
  run: async (supervisor, args, progress) => carryOut()(supervisor, args, progress, during)
}])

/** Commands of features, each for one worker, or for all where they name the target. @type {[string, Verb][]} */
const COMMANDS = FEATURES.flatMap(({ commands }) => Object.entries(commands?.(KINDS) ?? {}))
  .map(([name, args]) => [name, {
    args: { target: KINDS.slots, ...args },
    run: async (supervisor, { target, ...how }, progress, { signal }) => {
      const command = (/** @type {number} */ slot) => supervisor[name](slot, { ...how, signal })
      return args.target ? each(slotsOf(supervisor, target), command, progress) : command(slotOf(supervisor, target))
    }
  }])

/** @type {Record<string, Verb>} */
const VERBS = {
  status: { run: async supervisor => supervisor.status() },
  recycle: {
    args: { target: KINDS.slots },
    waits: true,
    run: (supervisor, { target }, progress) =>
      each(slotsOf(supervisor, target, { mayBePid: true }), slot => supervisor.recycle(slot), progress)
  },
  ...Object.fromEntries(COMMANDS),
  cpuprofile: {
    args: { target: KINDS.slots, file: KINDS.file, durationMs: KINDS.duration },
    run: async (supervisor, { target, ...how }) => supervisor.cpuprofile(slotOf(supervisor, target), how)
  },
  signal: { args: { signal: KINDS.signal }, run: async (supervisor, { signal }) => supervisor.signal(signal) },
  reload: { args: RELOAD.args(KINDS), waits: true, run: reload },
  rollback: { waits: true, run: rollback },
  scale: { args: { workers: KINDS.workers }, waits: true, run: scale },
  ...Object.fromEntries(OF_FEATURES),
  stop: { args: { now: KINDS.flag }, waits: true, run: stop },
  follow: { args: { last: KINDS.lines, isOver: KINDS.flag }, run: follow }
}

/**
 * Runs a verb for several slots; the supervisor limits how many run at a time.
 * @param {number[]} slots @param {(slot: number) => Promise<Line>} verb @param {Progress} progress
 */
async function each (slots, verb, progress) {
  /** @type {Line[]} */
  const done = []
  /** @type {{ slot: number, code: string, message: string }[]} */
  const failed = []
  await Promise.all(slots.map(async slot => {
    try {
      const line = await verb(slot)
      done.push(line)
      progress({ done: done.length, of: slots.length, line })
    } catch (error) {
      if (slots.length === 1) throw error
      const { code = '', message } = /** @type {NodeJS.ErrnoException} */ (error)
      failed.push({ slot, code, message })
    }
  }))
  return { done, failed }
}

/** @param {Supervised} supervisor @param {Record<string, unknown>} how @param {Progress} progress */
async function reload (supervisor, how, progress) {
  /** @type {string | undefined} */
  let outcome
  const done = await replaceAll(supervisor, progress, async () => {
    outcome = await supervisor.reload(how) ?? undefined
  })
  return { ...done, outcome }
}

/** @param {Supervised} supervisor @param {Record<string, unknown>} args @param {Progress} progress */
async function rollback (supervisor, args, progress) {
  let release = {}
  const done = await replaceAll(supervisor, progress, async () => { release = await supervisor.rollback() })
  return { ...release, ...done }
}

/** @param {Supervised} supervisor @param {Progress} progress @param {() => Promise<void>} run */
async function replaceAll (supervisor, progress, run) {
  const { size: of } = supervisor
  const { listening } = supervisor.status()
  const replaced = (/** @type {Line[]} */ lines) => lines.filter(({ event }) => event === 'recycled')
  const lines = await during(supervisor, ['recycled', 'scaled', 'fleet.trial'], lines =>
    progress({ done: Math.min(of, replaced(lines).length), of, line: lines.at(-1) }), run)
  const now = new Set(supervisor.status().listening)
  return {
    recycled: replaced(lines),
    left: lines.filter(({ event }) => event === 'scaled'),
    closed: listening.filter(url => !now.has(url))
  }
}

/** @param {Supervised} supervisor @param {Record<string, any>} args @param {Progress} progress */
async function scale (supervisor, { workers }, progress) {
  const from = supervisor.size
  if (workers === 'auto') {
    await supervisor.scale(workers)
    return { from, to: from, ...aboutWorkers(supervisor.status()) }
  }
  const isRelative = /^[+-]/.test(workers)
  const to = isRelative ? from + Number(workers) : Number(workers)
  if (isRelative && to < 1) throw badOption('workers', workers, `a number that leaves at least 1 of the ${from}`)
  const of = Math.abs(to - from)
  const lines = await during(supervisor, [to > from ? 'worker.ready' : 'scaled'],
    lines => progress({ done: Math.min(of, lines.length), of, line: lines.at(-1) }), () => supervisor.scale(to))
  return { from, to, scaled: to > from ? [] : lines, ...aboutWorkers(supervisor.status()) }
}

/**
 * @param {Record<string, unknown>} status @returns what features say of the number of workers, by key
 */
const aboutWorkers = status => SIZE_WORDS.key in status ? { [SIZE_WORDS.key]: status[SIZE_WORDS.key] } : {}

/**
 * A stop during a stop waits for its end; `now` shortens it.
 * @param {Supervised} supervisor @param {{ now?: boolean }} args @param {Progress} progress
 */
async function stop (supervisor, { now = false }, progress) {
  const of = supervisor.size
  const joins = supervisor.isStopping && !now
  const stopped = await during(supervisor, ['stopped', 'recycled', 'scaled'], lines =>
    progress({ done: lines.length, of, line: lines.at(-1) }), () => joins
    ? new Promise(resolve => supervisor.once('stopped', () => resolve(undefined)))
    : supervisor.stop({ now }))
  return { stopped }
}

/**
 * @param {Supervised} supervisor @param {{ last?: number, isOver?: boolean }} args @param {Progress} progress
 * @param {Asking} asking
 */
async function follow (supervisor, { last = 0, isOver = false }, progress, { recent, onEvent, signal }) {
  for (const line of recent.last(last)) onEvent(line)
  if (isOver) return { isLeft: false }
  if (supervisor.handover.hasLeft) return { isLeft: true }
  supervisor.on('event', onEvent)
  await new Promise(resolve => {
    supervisor.once('stopped', resolve)
    signal.addEventListener('abort', () => {
      supervisor.removeListener('stopped', resolve)
      resolve(undefined)
    }, { once: true })
    if (signal.aborted) resolve(undefined)
  })
  supervisor.removeListener('event', onEvent)
  return { isLeft: supervisor.handover.hasLeft }
}

/**
 * Collects the journal's lines of some events while a task runs.
 * @param {Supervised} supervisor @param {string[]} events @param {(lines: Line[]) => void} onLine
 * @param {() => Promise<unknown>} task
 */
async function during (supervisor, events, onLine, task) {
  /** @type {Line[]} */
  const lines = []
  const listen = (/** @type {Line} */ line) => {
    if (!events.includes(line.event)) return
    lines.push(line)
    onLine(lines)
  }
  supervisor.on('event', listen)
  try {
    await task()
    return lines
  } finally {
    supervisor.removeListener('event', listen)
  }
}

/**
 * @param {Supervised} supervisor
 * @param {string | number} target a slot, "all" if `mayBeAll`, or a worker's pid if `mayBePid`
 * @param {{ mayBeAll?: boolean, mayBePid?: boolean }} [how] @returns {number[]} slots
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function slotsOf (supervisor, target, { mayBeAll = true, mayBePid = false } = {}) {
  const workers = supervisor.status().workers.flatMap(({ slot, pid }) => slot === null ? [] : [{ slot, pid }])
  const slots = [...new Set(workers.map(({ slot }) => slot))]
  if (mayBeAll && target === 'all') return slots
  const number = /^\d+$/.test(String(target)) ? Number(target) : NaN
  if (slots.includes(number)) return [number]
  const slot = workers.find(({ pid }) => mayBePid && pid === number)?.slot
  if (slot !== undefined) return [slot]
  throw badOption('the worker', target,
    `${mayBeAll ? 'all, ' : ''}a slot ` +
      `(${slots.join(', ')})${mayBePid ? ` or a pid (${workers.map(({ pid }) => pid).join(', ')})` : ''}`)
}

/** @param {Supervised} supervisor @param {string | number} target @returns {number} a slot */
const slotOf = (supervisor, target) => slotsOf(supervisor, target, { mayBeAll: false })[0]

/**
 * Runs a verb.
 * @param {string} verb one of VERBS
 * @param {Supervised} supervisor @param {Record<string, unknown>} args as sent by the client
 * @param {Progress} progress @param {Asking} asking
 * @throws {RecycleError} RECYCLE_BAD_OPTION for wrong arguments, and the errors of the verb
 */
async function carryOut (verb, supervisor, args, progress, asking) {
  const { args: kinds = {}, waits, run } = VERBS[verb]
  const read = readArgs(kinds, args)
  if (!waits) return run(supervisor, read, progress, asking)
  const waiting = sayWaits(supervisor, progress)
  try {
    return await run(supervisor, read, waiting.progress, asking)
  } finally {
    waiting.end()
  }
}

/**
 * Says which workers a verb waits for: one with open streams drains for as long as it may.
 * @param {Supervised} supervisor @param {Progress} progress
 */
function sayWaits (supervisor, progress) {
  let latest = { done: 0, of: supervisor.size }
  const timer = setInterval(() => {
    const status = supervisor.status()
    const waits = status.workers.filter(({ state }) => state === 'draining')
      .map(worker => pick(worker, ['slot', 'pid', 'connections', 'streams', 'inFlight', 'drainLeftMs']))
    const note = sayWait(status) ?? undefined
    if (waits.length > 0 || note) progress({ ...latest, waits, note })
  }, WAITS_EVERY_MS)
  return {
    /** @type {Progress} */
    progress ({ done, of, ...more }) {
      latest = { done, of }
      progress({ done, of, ...more })
    },
    end: () => clearInterval(timer)
  }
}

module.exports = { VERBS, during, carryOut }
