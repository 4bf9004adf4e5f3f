'use strict'

/**
 * In a worker: what mark-sweeps leave of the old generation, and where V8 ends the process. V8 compares the old
 * generation alone with its limit; `heap_size_limit` includes the young one, which is as large as three semi-spaces.
 * Near the limit V8 collects ever more often, so that there is a recent figure.
 */

const v8 = require('node:v8')
const { oldSpaceLimit } = require('../../core/old-space')
const { oldBytes } = require('../../worker/vitals/gc-pauses')

/** @param {import('../interface').WorkerKernel} kernel */
function watchHeap ({ onCollected }) {
  const flags = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv]
  const limitBytes = oldSpaceLimit(v8.getHeapStatistics().heap_size_limit, flags, parseInt(process.versions.v8))
  /** @type {{ heapUsedBytes: number | null, heapLimitBytes: number | null }} null: there was no mark-sweep yet */
  let heap = { heapUsedBytes: null, heapLimitBytes: null }
  onCollected(hasMarkSweep => {
    if (hasMarkSweep) heap = { heapUsedBytes: oldBytes(), heapLimitBytes: limitBytes }
  })
  return { figures: () => heap }
}

module.exports = { watchHeap }
