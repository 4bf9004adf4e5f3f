'use strict'

// The hub of the sprites, on the unix socket that is given. Says its counts, and how long its event loop stood still,
// when it is asked.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { startHub } = require('../../examples/sprites/hub')

const delay = monitorEventLoopDelay({ resolution: 20 })

startHub(process.argv[2], { graceMs: 3600_000 }).then(hub => {
  delay.enable()
  process.on('message', () => {
    process.send?.({ ...hub.stats(), stallMs: delay.max / 1e6 })
    delay.reset()
  })
  process.send?.('ready')
})
process.once('disconnect', () => process.exit())
