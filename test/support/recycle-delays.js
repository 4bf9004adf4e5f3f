'use strict'

/** How lib/tables/recycle-backoff.js delays the recycles of a fleet, found again from its journal. */

const { RecycleBackoff } = require('../../lib/tables/recycle-backoff')
const { isOver } = require('../../lib/tables/reasons')

/**
 * @param {Record<string, any>[]} lines
 * @returns {Map<Record<string, any>, number>} of each `worker.condemn`: before when its recycle does not begin
 */
function recycleDelays (lines) {
  /** @type {Map<number, RecycleBackoff>} */
  const slots = new Map()
  /** @type {Map<number, { budget: any, isJudged: boolean, asks: boolean }>} */
  const workers = new Map()
  /** @type {Map<Record<string, any>, number>} */
  const delays = new Map()
  const of = (/** @type {number} */ slot) => {
    const known = slots.get(slot) ?? new RecycleBackoff()
    slots.set(slot, known)
    return known
  }
  /** @type {Record<string, (line: any, worker: any) => void>} */
  const on = {
    'fleet.scale': line => { for (const slot of slots.keys()) if (!line.slots.includes(slot)) slots.delete(slot) },
    'worker.spawn': ({ pid, budget }) => { workers.set(pid, { budget, isJudged: false, asks: false }) },
    'worker.request': (_, worker) => { worker.asks = true },
    'worker.sample': (line, worker) => {
      if (worker.isJudged || line.slot === null) return
      worker.isJudged = true
      of(line.slot).begun(isOver(line, worker.budget, worker.budget.softBytes), line.t)
    },
    'worker.condemn': (line, worker) => {
      const { slot, reason, ageMs, t } = line
      if (slot === null) return
      const isCommanded = reason === 'requested' && !worker.asks
      if (!isCommanded) of(slot).condemned(reason, ageMs, t)
      delays.set(line, of(slot).notBefore)
    }
  }
  for (const line of lines) {
    const worker = workers.get(line.pid)
    if (worker || line.event === 'worker.spawn' || line.event === 'fleet.scale') on[line.event]?.(line, worker)
  }
  return delays
}

module.exports = { recycleDelays }
