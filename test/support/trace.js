'use strict'

/**
 * Whether the model of a fleet accepts the journal of a real one: what workers do by themselves (they come up, die, have drained, are
 * condemned) and what is commanded happens to the model too, and every process that the primary starts or lets go must be one that the
 * model starts or lets go, and the other way round. test/support/replay-plan.js judges single steps; here the model goes its own way.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { figure } = require('../../lib/core/sample')
const { FleetModel, firstSlots } = require('./fleet-model')

const LATE_MS = 500 // a time of the plan comes so much later in the real fleet, at the most: on a busy machine another step may go before it
const EARLY_MS = 1000 // a worker that dies within this time of being ready counts as one that never was
const LOOK = ['worker.sample', 'worker.condemn', 'fleet.memory']
const STEP_MS = 2000 // until a step of the model must be in the journal

/**
 * @param {Record<string, any>[]} lines of one primary, without standbys, from its start; the stop and what follows is left out
 * @returns {{ steps: number, refused: string[] }} `refused`: what the model does not do, or does alone
 */
function trace (lines) {
  const started = lines.find(({ event }) => event === 'fleet.start')
  assert(started && started.options.standby === 0, 'a journal from its start, without standbys')
  const { workers, maxSurge, maxUnavailable, onBudget, heapdumpsPerDay } = started.options
  const model = new FleetModel({ slots: firstSlots(workers), generation: 0, standbys: 0, maxSurge, maxUnavailable })
  /** @type {string[]} */
  const refused = []
  /** Steps of the model that the journal has not yet. @type {{ type: string, slot: number | null, worker: any, at: number }[]} */
  let due = []
  /** @type {Map<number, { worker: any, slot: number, upAt: number | null }>} */
  const byPid = new Map()
  let steps = 0
  model.onStep = step => { due.push({ ...step, at: model.now }) }
  const refuse = (/** @type {any} */ line, /** @type {string} */ why) => refused.push(`${why}: ${JSON.stringify(line)}; ${model.key}`)
  /** Lets the model go on to this time. @param {number} t */
  const advance = t => {
    for (let wakeAt; (wakeAt = plan(model.facts(), model.desired, model.now).wakeAt) <= t;) {
      model.now = wakeAt
      model.settle()
    }
    model.now = Math.max(model.now, t)
  }
  /** @param {any} line @param {string} type @param {(step: any) => boolean} isIt */
  const take = (line, type, isIt) => {
    const find = () => due.find(step => step.type === type && isIt(step))
    if (!find()) advance(line.t + LATE_MS)
    const step = find()
    if (!step) return refuse(line, 'the model does not')
    due = due.filter(other => other !== step)
    steps++
    return step
  }
  /** @param {any} line @param {'comesUp' | 'diesEarly' | 'drained' | 'crash'} type */
  const happens = (line, type) => {
    const known = byPid.get(line.pid)
    if (!known) return refuse(line, 'no such worker')
    const { boots } = model.slots.get(known.slot) ?? {}
    const before = boots && { ...boots }
    if (!model.happenTo(type, known.worker)) refuse(line, `it cannot be that this ${type}`)
    if (type === 'comesUp' && boots) Object.assign(boots, before) // until it has lived for a second
    else if (type === 'diesEarly' && boots) boots.notBefore += LATE_MS
  }
  const known = (/** @type {number} */ pid) => byPid.get(pid)?.worker ?? {}

  /** @type {Record<string, (line: any) => void>} */
  const on = {
    'fleet.start': () => {},
    'fleet.scale': ({ slots }) => { model.desired = { ...model.desired, slots } },
    'fleet.reload': ({ generation }) => { model.desired = { ...model.desired, generation } },
    'fleet.memory': ({ limitBytes, usedBytes, freshBytes }) => { model.memory = { limitBytes, usedBytes, freshBytes } },
    'worker.spawn': line => {
      if (line.pid === null) return
      const step = take(line, 'starts', ({ slot }) => slot === line.slot)
      if (step) byPid.set(line.pid, { worker: step.worker, slot: line.slot, upAt: null })
    },
    'worker.ready': line => {
      happens(line, 'comesUp')
      Object.assign(byPid.get(line.pid) ?? {}, { upAt: line.t })
      known(line.pid).isSampled = false
    },
    'worker.sample': line => {
      const bytes = figure(line, started.options.metric)
      Object.assign(known(line.pid), { isSampled: true, ...bytes === null ? {} : { bytes: line.rssBytes ?? 0 } })
    },
    'worker.condemn': line => {
      const isOverHard = line.reason === 'hard-rss'
      const isOfMemory = line.reason === 'rss' || isOverHard
      const task = !isOfMemory ? null : onBudget === 'collect' ? 'collect' : heapdumpsPerDay !== null ? 'heapdump' : null
      Object.assign(known(line.pid), { reason: line.reason, condemnedAt: line.t, isOverHard, task })
    },
    'worker.keep': ({ pid }) => { Object.assign(known(pid), { reason: null, task: null }) },
    'worker.out-of-rotation': ({ pid }) => { known(pid).state = 'out-of-rotation' },
    'worker.in-rotation': ({ pid }) => { if (known(pid).state === 'out-of-rotation') Object.assign(known(pid), { state: 'ready', task: null }) },
    'worker.drain': line => {
      if (!take(line, 'leaves', ({ worker }) => worker === known(line.pid))) return
      known(line.pid).drains = true
    },
    'worker.retire': line => {
      if (!known(line.pid).drains) refuse(line, 'it has left without a drain')
      happens(line, 'drained')
    },
    'worker.crash': line => {
      const about = byPid.get(line.pid)
      const isEarly = about?.upAt === null || (about && line.t - Number(about.upAt) < EARLY_MS)
      happens(line, about?.upAt === null ? 'diesEarly' : 'crash')
      if (isEarly && about.upAt !== null) model.slots.get(about.slot)?.boots.failed(line.t + LATE_MS)
    }
  }
  for (const [i, line] of lines.entries()) {
    if (line.event === 'fleet.stopping') break
    advance(line.t)
    for (const { slot, upAt } of byPid.values()) if (upAt !== null && line.t - upAt >= EARLY_MS) model.slots.get(slot)?.boots.succeeded()
    on[line.event]?.(line)
    const next = lines[i + 1]
    const isWithinLook = LOOK.includes(line.event) && next && LOOK.includes(next.event) && next.t - line.t < LATE_MS // its plan is made when all are judged
    if (on[line.event] && !isWithinLook) model.settle()
    for (const step of due.filter(({ at }) => line.t - at > STEP_MS)) {
      refuse(step, 'the model alone does')
      due = due.filter(other => other !== step)
    }
  }
  return { steps, refused }
}

module.exports = { trace }
