'use strict'

const { LoopDelay } = require('./loop-delay')

/** @param {import('../interface').WorkerKernel} _ @param {Record<string, any>} settings */
function measureDelay (_, { periodMs }) {
  const delay = new LoopDelay(periodMs)
  return {
    figures () {
      delay.look()
      return { lagP99Ms: delay.p99Ms }
    }
  }
}

module.exports = { measureDelay }
