'use strict'

/**
 * A fleet: `node recycle.js <options of supervise() as JSON> [everyMs]`. With `everyMs` a worker is replaced that
 * often, slot after slot. Prints "ready".
 */

const { supervise } = require('../../lib')

const [, , options, everyMs] = process.argv
const fleet = supervise({ stopLinger: 0, ...JSON.parse(options) })
let slot = 0
fleet.ready().then(() => {
  console.log('ready')
  // The last recycle is still under way
  if (everyMs) setInterval(() => fleet.recycle(slot++ % fleet.size).catch(() => {}), Number(everyMs))
}, error => {
  console.error(error.message)
  process.exit(1)
})
process.on('SIGTERM', () => fleet.stop().then(() => process.exit()))
