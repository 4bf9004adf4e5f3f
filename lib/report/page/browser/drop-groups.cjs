'use strict'

const SAME = ['error', 'status', 'method', 'path', 'phase', 'joinedBy', 'crashed']

/** Drops of one kind as one: with their `count`, the first time `t` and the `last`, and the `recycles` and `slots` in which they were. */
function dropGroups (drops) {
  const groups = new Map()
  for (const drop of [...drops].sort((a, b) => a.t - b.t)) {
    const key = JSON.stringify(SAME.map(name => drop[name]))
    const group = groups.get(key) ?? { ...drop, count: 0, recycles: new Set(), slots: new Set() }
    groups.set(key, group)
    group.count++
    group.last = drop.t
    if (drop.recycle !== null) group.recycles.add(drop.recycle)
    if (drop.slot !== null) group.slots.add(drop.slot)
  }
  return [...groups.values()]
}

/** What to do about drops of requests that took longer than their worker's drain. @param {(ms: number) => string} time @returns {string | null} */
function hintOf (drops, recycleEvents, time) {
  const ids = new Set(drops.map(({ recycle }) => recycle))
  const cut = recycleEvents.filter(({ id, cut }) => cut > 0 && ids.has(id))
  const ages = cut.flatMap(({ cuts }) => cuts.map(({ ageMs }) => ageMs ?? 0))
  const drains = cut.map(({ drainMs }) => drainMs).filter(ms => ms !== null)
  if (ages.length === 0 || drains.length === 0) return null
  return `The supervisor cut ${ages.length === 1 ? 'one request' : `${ages.length} requests`} that had run for up to ${time(Math.max(...ages))}, in drains of at most ${time(Math.max(...drains))}: a --drain-timeout longer than the longest request lets them finish.`
}

module.exports = { dropGroups, hintOf }
