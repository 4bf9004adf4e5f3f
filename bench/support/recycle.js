'use strict'

// `node recycle.js <workers> <app> [recycling]`: a fleet; with `recycling` it replaces a worker every second. Says "ready".
const { supervise } = require('../..')

const [, , workers, app, recycling] = process.argv
const fleet = supervise({ app, workers: Number(workers), stopLinger: 0 })
fleet.ready().then(() => console.log('ready'))
let slot = 0
if (recycling) setInterval(() => fleet.recycle(slot++ % Number(workers)).catch(() => {}), 1000)
process.on('SIGTERM', () => fleet.stop({ now: true }).then(() => process.exit()))
