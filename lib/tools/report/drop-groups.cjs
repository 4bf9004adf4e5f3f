'use strict'

/**
 * Drops of one kind as one, for the terminal and for the page.
 *
 * @typedef {import('./index').Report} Report @typedef {Report['drops'][number]} Drop
 *
 * @typedef {Drop & { count: number, last: number, recycles: Set<number>, slots: Set<number> }} DropGroup its first
 *   drop's fields; `last`: the time of its last one; `recycles` and `slots` in which they were
 */

/** @type {(keyof Drop)[]} */
const SAME = ['error', 'status', 'method', 'path', 'phase', 'joinedBy', 'crashed']

/** @param {Drop[]} drops @returns {DropGroup[]} */
function dropGroups (drops) {
  /** @type {Map<string, DropGroup>} */
  const groups = new Map()
  for (const drop of [...drops].sort((a, b) => a.t - b.t)) {
    const key = JSON.stringify(SAME.map(name => drop[name]))
    const group = groups.get(key) ?? { ...drop, count: 0, last: drop.t, recycles: new Set(), slots: new Set() }
    groups.set(key, group)
    group.count++
    group.last = drop.t
    if (drop.recycle !== null) group.recycles.add(drop.recycle)
    if (drop.slot !== null) group.slots.add(drop.slot)
  }
  return [...groups.values()]
}

/**
 * Advice on drops of requests that took longer than their worker's drain.
 * @param {Drop[]} drops @param {Report['recycleEvents']} recycleEvents @param {(ms: number) => string} time
 * @returns {string | null}
 */
function hintOf (drops, recycleEvents, time) {
  const ids = new Set(drops.map(({ recycle }) => recycle))
  const cut = recycleEvents.filter(({ id, cut }) => Number(cut) > 0 && ids.has(id))
  const ages = cut.flatMap(({ cuts }) => cuts.map(({ ageMs }) => ageMs ?? 0))
  const drains = cut.map(({ drainMs }) => drainMs).filter(ms => ms !== null)
  if (ages.length === 0 || drains.length === 0) return null
  return `The supervisor cut ${ages.length === 1 ? 'one request' : `${ages.length} requests`} that had run for up ` +
    `to ${time(Math.max(...ages))}, in drains of at most ${time(Math.max(...drains))}: a --drain-timeout longer ` +
    'than the longest request lets them finish.'
}

module.exports = { dropGroups, hintOf }
