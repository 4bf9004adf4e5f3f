'use strict'

/**
 * Replays the plan over a journal: from the lines alone the facts of the fleet are found again, and each spawn and each
 * drain of the journal must be a step that lib/core/plan.js gives for them. What the journal does not tell is a
 * worker's backoff for being over budget from the start, so that no wait is checked here; and its times are some ms
 * after those that the plan was made with.
 */

const { plan } = require('../../lib/core/plan')
const { firstSlots } = require('./fleet-model')

/**
 * @param {Record<string, any>[]} lines of one fleet, without a stop
 * @returns {string[]} the steps that were not planned
 */
function unplanned (lines) {
  /** @type {Map<number, any>} */
  const slots = new Map()
  /** @type {Map<number, any>} */
  const standbys = new Map()
  /** @type {Map<number, any>} */
  const workers = new Map()
  /** @type {string[]} */
  const found = []
  /** @type {any} */
  let desired = {}
  /** @type {any} */
  let memory = null
  const placeOf = (/** @type {any} */ worker) =>
    [...slots.values()].find(slot => slot.incumbent === worker || slot.successor === worker || slot.leaving.has(worker))
  const facts = () => ({
    slots: [...slots.values()].sort((a, b) => a.slot - b.slot)
      .map(({ slot, incumbent, successor, leaving, recycle, isNew }) =>
        ({ slot, incumbent, isLeaving: leaving.size > 0 || successor !== null, recycle: recycle?.how ?? null, isReplaced: recycle?.how === 'surge' && successor === null, isNew, bootNotBefore: 0, unservedNotBefore: 0, recycleNotBefore: 0 })),
    standbys: [...standbys.values()],
    standbyNotBefore: 0,
    memory
  })
  let now = 0
  const steps = () => plan(facts(), desired, now).actions
  const expect = (/** @type {any} */ line, /** @type {(action: any) => boolean} */ isIt) => {
    const action = steps().find(isIt)
    if (!action) found.push(`${JSON.stringify(line)} with ${JSON.stringify(facts())}, desired ${JSON.stringify(desired)}`)
    return action
  }
  /**
   * The same for a step that was begun at a time before its line: later samples were not known then.
   *
   * @param {any} line @param {number} t @param {(action: any) => boolean} isIt
   */
  const expectAt = (line, t, isIt) => {
    const later = [...workers.values()].filter(({ sampledAt }) => sampledAt >= t)
      .map(worker => ({ worker, bytes: worker.bytes }))
    for (const { worker } of later) worker.bytes = worker.bytesBefore
    const action = expect(line, isIt)
    for (const { worker, bytes } of later) worker.bytes = bytes
    return action
  }
  const open = (/** @type {number} */ number) => {
    const slot = slots.get(number) ??
      { slot: number, incumbent: null, successor: null, leaving: new Set(), recycle: null, isNew: true }
    slots.set(number, slot)
    return slot
  }
  /**
   * A standby may have been called into an empty slot, which is in no line before it is ready there.
   *
   * @returns {() => void} undoes it
   */
  const call = () => {
    const slot = slots.get(steps().flatMap(action => action.type === 'boot' ? [action.slot] : [])[0])
    const standby = [...standbys.values()].find(({ state }) => state === 'standby')
    if (!slot || !standby) return () => {}
    standbys.delete(standby.pid)
    slot.incumbent = standby
    return () => {
      standbys.set(standby.pid, standby)
      slot.incumbent = null
    }
  }
  const vacate = (/** @type {any} */ slot) => {
    slot.leaving.add(slot.incumbent)
    slot.incumbent = null
  }

  /** @type {Record<string, (line: Record<string, any>) => void>} */
  const on = {
    'fleet.start': ({ options: { workers, autoscale = null, sizing, standby: standbys, maxSurge, maxUnavailable } }) => { desired = { slots: firstSlots(workers), maxBoots: autoscale ? Math.max(1, sizing.cpus) : 1, generation: 0, standbys, maxSurge, maxUnavailable } },
    'fleet.scale': ({ to, slots = firstSlots(to) }) => { desired = { ...desired, slots } },
    'fleet.reload': ({ generation }) => { desired = { ...desired, generation } },
    'worker.spawn': line => {
      const { slot: number, pid, generation } = line
      const worker = { pid, state: 'spawning', generation, reason: null, bytes: 0, isSampled: false, condemnedAt: 0, task: null, isOverHard: false }
      workers.set(pid, worker)
      if (number === null) {
        const giveBack = steps().some(({ type }) => type === 'boot-standby') ? () => {} : call()
        expect(line, ({ type }) => type === 'boot-standby')
        giveBack()
        standbys.set(pid, worker)
        return
      }
      const slot = open(number)
      if (slot.recycle === null) { // a recycle that drains first spawns when it has drained
        const action = expect(line, action => action.slot === number && (action.type === 'boot' || action.how === 'surge'))
        if (action?.type === 'recycle') slot.recycle = { how: 'surge', old: slot.incumbent }
      }
      if (slot.incumbent) slot.successor = worker
      else slot.incumbent = worker
    },
    'worker.standby': ({ pid }) => { Object.assign(workers.get(pid), { state: 'standby', isSampled: false }) },
    'worker.ready': line => {
      const { slot: number, pid } = line
      const worker = workers.get(pid)
      const slot = open(number)
      if (standbys.has(pid)) { // the call to a standby is in no line: it is ready in its slot now
        const isBoot = slot.incumbent === null
        if (slot.recycle === null) expectAt(line, line.t - line.readyMs, action => action.slot === number && action.type === (isBoot ? 'boot' : 'recycle'))
        if (!isBoot) slot.recycle = { how: 'surge', old: slot.incumbent }
        standbys.delete(pid)
        if (slot.incumbent) slot.successor = worker
        else slot.incumbent = worker
      }
      Object.assign(worker, { state: 'ready', isSampled: false })
      slot.isNew = false
      if (slot.successor !== worker) return
      if (slot.incumbent) vacate(slot)
      slot.incumbent = worker
      slot.successor = null
    },
    'fleet.memory': ({ limitBytes, usedBytes, freshBytes }) => { memory = { limitBytes, usedBytes, freshBytes } },
    'worker.sample': line => {
      const worker = workers.get(line.pid)
      const { t, rssBytes } = line
      Object.assign(worker, { sampledAt: t, bytesBefore: worker.bytes, bytes: rssBytes ?? 0, isSampled: true })
    },
    'worker.condemn': ({ pid, reason }) => { workers.get(pid).reason = reason },
    'worker.keep': ({ pid }) => { Object.assign(workers.get(pid), { reason: null, isSampled: false }) },
    'worker.out-of-rotation': ({ pid }) => { workers.get(pid).state = 'out-of-rotation' },
    'worker.in-rotation': ({ pid }) => { if (workers.get(pid).state === 'out-of-rotation') workers.get(pid).state = 'ready' },
    'worker.drain': line => {
      const { pid, reason } = line
      const worker = workers.get(pid)
      const slot = placeOf(worker)
      // One that was given up keeps its place until it is gone
      if (slot?.incumbent === worker && reason !== 'not-ready') {
        if (reason === 'scale') {
          expect(line, action => action.type === 'scale-away' && action.slot === slot.slot)
          slot.isNew = true
        } else {
          slot.recycle = expect(line, action => action.how === 'drain-first' && action.slot === slot.slot) && { how: 'drain-first', old: worker }
        }
        vacate(slot)
      } else if (!slot && reason !== 'unfit' && reason !== 'not-ready') {
        const at = [...standbys.values()].indexOf(worker)
        expect(line, action => action.type === 'retire-standby' && action.standby === at)
      }
      worker.state = 'draining'
    },
    'worker.not-ready': ({ slot }) => { if (slot !== null && slots.has(slot)) slots.get(slot).recycle = null },
    recycled: ({ slot }) => { slots.get(slot).recycle = null }
  }
  const gone = (/** @type {Record<string, any>} */ { pid }) => {
    const worker = workers.get(pid)
    const slot = placeOf(worker)
    standbys.delete(pid)
    workers.delete(pid)
    if (!slot) return
    if (slot.incumbent === worker) slot.incumbent = null
    if (slot.successor === worker) slot.successor = null
    slot.leaving.delete(worker)
    if (!desired.slots.includes(slot.slot) && slot.incumbent === null && slot.leaving.size === 0) {
      slots.delete(slot.slot)
    }
  }
  on['worker.retire'] = on['worker.crash'] = gone
  for (const line of lines) {
    now = line.t
    on[line.event]?.(line)
  }
  return found
}

module.exports = { unplanned }
