'use strict'

/**
 * The next steps: those to begin now, from the facts of the fleet and from what is desired of it. Pure. Commands
 * change what is desired, workers change the facts, and after each change the plan is made anew; a step that has begun
 * is among the facts.
 *
 * What holds after every plan, whatever fails in between:
 * - while a worker serves, at most `maxSurge` processes (or `standbys`, if that is more) start or run beside the
 *   desired workers, or at most `maxBoots` where they start in new slots; a crashed worker is replaced at once all the
 *   same;
 * - a worker is taken out of service before its replacement is ready only within `maxUnavailable`. That is also how a
 *   recycle begins where the container's memory has no room for a replacement. Without `maxUnavailable` the worker
 *   stays until there is, if its recycle can wait; else the replacement starts all the same;
 * - once faults end, the fleet converges to what is desired.
 *
 * Times are ms by any clock that only goes forward.
 *
 * @typedef {{ type: 'boot' | 'scale-away' | 'close' | 'before-recycle' | 'wait', slot: number }
 *   | { type: 'recycle', slot: number, how: 'surge' | 'drain-first', hasNoRoom?: true } | { type: 'retire-standby',
 *   standby: number, reason: string } | { type: 'boot-standby' } | { type: 'rejoin', slot: number }} Action `standby`
 *   is its index among the facts; `wait`: it is to be said that its recycle does, for room; `hasNoRoom`: the memory has
 *   none for its replacement
 */

const { fitting, isServing, isUsable, surging } = require('./fleet-facts')
const { nextRecycles } = require('./recycle-order')
/** @import { Desired, Facts } from './fleet-facts' */

/** @typedef {{ room: number, surging: number, clock: Clock }} Limits */

const SAID_AFTER_MS = 2000 // the memory of a worker that has just left is among what is used until the next look

/**
 * @param {Facts} facts @param {Desired} desired @param {number} now
 * @returns {{ actions: Action[], wakeAt: number }} `wakeAt`: when the plan changes though no fact does; Infinity: it
 *   does not
 */
function plan (facts, desired, now) {
  const clock = new Clock(now)
  const room = Math.max(desired.standbys, desired.maxSurge)
  const standbys = retireStandbys(facts, desired)
  const before = surging(facts, desired)
  const boots = bootSlots(facts, desired, { room, surging: before, clock })
  const fits = fitting(facts, desired, before + boots.starting)
  const more = bootStandbys(facts, desired, { room: Math.min(room, fits), surging: before + boots.starting, clock })
  const outOfRotation = leaveRotation(facts, desired)
  const recycles = recycle(
    facts, desired, { room, fits, surging: before + boots.starting + more.length, ...outOfRotation, clock }
  )
  return {
    actions: [
      ...rejoin(facts), ...leave(facts, desired), ...boots.actions, ...standbys, ...more, ...outOfRotation.actions,
      ...recycles
    ],
    wakeAt: clock.wakeAt
  }
}

/** Which times are over, and the first of those that are not. */
class Clock {
  wakeAt = Infinity

  /** @param {number} now */
  constructor (now) {
    this.now = now
  }

  /** @param {number} notBefore */
  isDue (notBefore) {
    if (notBefore > this.now) this.wakeAt = Math.min(this.wakeAt, notBefore)
    return notBefore <= this.now
  }
}

/** A worker that is out of rotation comes back where no other one serves. @param {Facts} facts @returns {Action[]} */
function rejoin ({ slots }) {
  if (slots.some(({ incumbent }) => isServing(incumbent))) return []
  return slots.filter(({ incumbent }) => incumbent?.state === 'out-of-rotation')
    .map(({ slot }) => ({ type: 'rejoin', slot }))
}

/**
 * Slots beyond those desired: their worker leaves when its recycle is over and one that stays serves; one that was
 * given up leaves already.
 * @param {Facts} facts @param {Desired} desired @returns {Action[]}
 */
function leave ({ slots }, { slots: wanted }) {
  const isNeeded = slots.some(({ incumbent }) => isServing(incumbent)) &&
    !slots.some(({ slot, incumbent }) => wanted.includes(slot) && isServing(incumbent))
  const unwanted = slots.filter(({ slot, recycle }) => !wanted.includes(slot) && recycle === null)
  return unwanted.flatMap(/** @returns {Action[]} */ ({ slot, incumbent, isLeaving }) => {
    if (incumbent === null) return isLeaving ? [] : [{ type: 'close', slot }]
    return isNeeded || incumbent.state === 'draining' ? [] : [{ type: 'scale-away', slot }]
  })
}

/**
 * Empty slots. A slot whose worker has served is filled at once, also where the one before it drains still; a new one,
 * while others serve, when there is room.
 * @param {Facts} facts @param {Desired} desired @param {Limits} limits
 * @returns {{ actions: Action[], starting: number }} `starting`: how many of them are new slots
 */
function bootSlots ({ slots }, { slots: wanted, maxBoots = 1, atFirst = Infinity }, { room, surging, clock }) {
  // See rejoin()
  const isServed = slots.some(({ incumbent }) => isServing(incumbent) || incumbent?.state === 'out-of-rotation')
  const byNumber = new Map(slots.map(slot => [slot.slot, slot]))
  /** @type {Action[]} */
  const actions = []
  const taken = slots.filter(({ incumbent }) => incumbent !== null).length
  let starting = 0
  for (const slot of wanted) {
    const {
      incumbent = null, recycle = null, isReplaced = false, isNew = true, bootNotBefore = 0, unservedNotBefore = 0
    } = byNumber.get(slot) ?? {}
    if (incumbent !== null || (recycle !== null && !isReplaced) ||
      !clock.isDue(isServed ? bootNotBefore : unservedNotBefore)) continue
    if (isNew && taken + actions.length >= atFirst) continue
    if (isNew && isServed && surging + starting >= Math.max(maxBoots, room)) continue
    if (isNew && isServed) starting++
    actions.push({ type: 'boot', slot })
  }
  return { actions, starting }
}

/**
 * A standby that must not be taken any more is replaced.
 * @param {Facts} facts @param {Desired} desired @returns {Action[]}
 */
function retireStandbys ({ standbys }, desired) {
  return standbys.flatMap(({ state, reason, generation }, standby) =>
    state === 'standby' && (reason !== null || generation !== desired.generation)
      ? [{ type: 'retire-standby', standby, reason: reason ?? 'reload' }]
      : [])
}

/** @param {Facts} facts @param {Desired} desired @param {Limits} limits @returns {Action[]} */
function bootStandbys ({ slots, standbys, standbyNotBefore }, desired, { room, surging, clock }) {
  if (!slots.some(({ incumbent }) => isServing(incumbent))) return []
  if (slots.some(({ incumbent }) => incumbent?.state === 'spawning')) return []
  const usable = standbys.filter(standby => isUsable(standby, desired)).length
  const missing = Math.min(desired.standbys - standbys.length, room - surging - usable)
  if (missing <= 0 || !clock.isDue(standbyNotBefore)) return []
  return Array.from({ length: missing }, () => ({ type: 'boot-standby' }))
}

/**
 * Tasks before a recycle, one at a time, and only where another worker, which stays, serves meanwhile. The others wait
 * for their turn, but for a worker over its hard budget, which is recycled.
 * @param {Facts} facts @param {Desired} desired
 * @returns {{ actions: Action[], held: Set<number> }} `held`: the slots whose recycle waits
 */
function leaveRotation ({ slots }, { slots: wanted }) {
  let isBusy = slots.some(({ incumbent }) => incumbent?.state === 'out-of-rotation')
  let serving = slots.filter(({ slot, incumbent }) => wanted.includes(slot) && isServing(incumbent)).length
  /** @type {Action[]} */
  const actions = []
  /** @type {Set<number>} */
  const held = new Set()
  for (const { slot, incumbent, recycle } of slots) {
    if (!wanted.includes(slot) || incumbent === null || !isServing(incumbent) || recycle !== null ||
      incumbent.task === null) continue
    const { task, isOverHard } = incumbent
    if (task === 'under way' || (isBusy && !isOverHard)) {
      held.add(slot)
    } else if (!isBusy && serving > 1 && !(isOverHard && task === 'before-recycle')) {
      isBusy = true
      serving--
      held.add(slot)
      actions.push({ type: 'before-recycle', slot })
    }
  }
  return { actions, held }
}

/**
 * @param {Facts} facts @param {Desired} desired
 * @param {{ room: number, fits: number, surging: number, held: Set<number>, actions: Action[], clock: Clock }} limits
 *   `fits`: `room`, as far as there is memory; `held`, `actions`: of leaveRotation()
 * @returns {Action[]}
 */
function recycle ({ slots }, { slots: wanted, maxUnavailable }, { room, fits, surging, held, actions, clock }) {
  const staying = slots.filter(({ slot }) => wanted.includes(slot))
  const condemned = staying.flatMap(({ slot, incumbent, recycle, recycleNotBefore: notBefore }) =>
    recycle === null && incumbent !== null && isServing(incumbent) && incumbent.reason !== null && !held.has(slot) &&
      clock.isDue(notBefore)
      ? [{ slot, bytes: incumbent.bytes, since: incumbent.condemnedAt, notBefore, incumbent }]
      : [])
  const isFull = maxUnavailable === 0 && fits === 0
  const waiting = condemned.filter(({ since, incumbent }) =>
    isFull && incumbent.canWait && !incumbent.isWaiting && clock.isDue(since + SAID_AFTER_MS))
  // The old ones are out of rotation when these begin
  const leaving = new Set(actions.map(action => 'slot' in action && action.slot))
  const ready = staying.filter(({ slot, incumbent }) => isServing(incumbent) && !leaving.has(slot)).length
  const maxSurge = Math.min(room, maxUnavailable > 0 ? fits : Math.max(1, fits))
  const movable = condemned.filter(({ incumbent }) => !(isFull && incumbent.canWait))
  const turns = nextRecycles(movable, { workers: wanted.length, ready, surging, maxSurge, maxUnavailable }, clock.now)
  const surges = turns.filter(({ how }) => how === 'surge').length
  // Replacements for which the memory alone has no room: beyond what fits, while the surge would allow more.
  return [...turns.map(/** @returns {Action} */ ({ slot, how }, i) => {
    const isTight = how === 'surge' ? surging + i + 1 > fits : surging + surges < room
    return { type: 'recycle', slot, how, ...isTight && { hasNoRoom: /** @type {const} */ (true) } }
  }), ...waiting.map(/** @returns {Action} */ ({ slot }) => ({ type: 'wait', slot }))]
}

module.exports = { plan }
