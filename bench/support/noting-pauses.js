'use strict'

// An app alone: `node noting-pauses.js <app> <with|without>`, with or without recording pauses as a worker does. Prints
// "ready".
const net = require('node:net')
const { GcPauses } = require('../../lib/worker/vitals/gc-pauses')

const [, , app, how] = process.argv
const BEAT_MS = 500 // a worker's
if (how === 'with') {
  const pauses = new GcPauses()
  setInterval(() => pauses.take(), BEAT_MS)
}
const { listen } = net.Server.prototype
net.Server.prototype.listen = function (/** @type {any[]} */ ...args) {
  return listen.apply(this, /** @type {any} */ (args)).once('listening', () => console.log('ready'))
}
require(app)
