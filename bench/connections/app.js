'use strict'

// The sprites server, which says once a second how large its heap is, and how long its event loop has stood still at
// most.
const { monitorEventLoopDelay } = require('node:perf_hooks')

const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()
setInterval(() => {
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ pid: process.pid, heapBytes: heapUsed + external, stallMs: delay.max / 1e6 })
  delay.reset()
}, 1000).unref()

require('../../examples/sprites/server')
