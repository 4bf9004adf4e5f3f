'use strict'

const { getHeapStatistics } = require('node:v8')
const { oldSpaceLimit } = require('../../core/old-space')
const { oldBytes } = require('../../worker/vitals/gc-pauses')

/** @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart} */
function measureHeap ({ onCollected }) {
  const flags = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv]
  const heapLimitBytes = oldSpaceLimit(getHeapStatistics().heap_size_limit, flags, parseInt(process.versions.v8))
  /** @type {Record<string, number | null>} null: there was no mark-sweep yet */
  let heap = { heapUsedBytes: null, heapLimitBytes: null }
  onCollected(hasMarkSweep => { if (hasMarkSweep) heap = { heapUsedBytes: oldBytes(), heapLimitBytes } })
  return { figures: () => heap }
}

module.exports = { part: measureHeap }
