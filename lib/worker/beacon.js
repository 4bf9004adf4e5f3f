'use strict'

/**
 * Says every so often that this worker lives, and what it is doing. Pushed, never asked for: the primary measures a
 * worker from outside and knows a stuck one by its silence.
 */

const inspector = require('node:inspector')
const { performance } = require('node:perf_hooks')
const { setInterval } = require('node:timers')
const { Pauses } = require('./pauses')

/**
 * @param {number} everyMs
 * @param {object} rooms
 * @param {import('./link').Link} rooms.link
 * @param {import('./traffic').Traffic} rooms.traffic
 * @param {import('./lobby').Lobby} rooms.lobby
 * @param {import('./admission').Admission} rooms.admission
 * @param {() => void} onLinkDown
 * @returns {() => void} sends a beat now
 */
function startBeacon (everyMs, { link, traffic, lobby, admission }, onLinkDown) {
  const pauses = new Pauses()
  let elu = performance.eventLoopUtilization()
  let connections = 0
  const say = () => {
    connections = traffic.connections.size + lobby.guests.size
    const since = performance.eventLoopUtilization(elu)
    elu = performance.eventLoopUtilization()
    link.send('beat', {
      requests: traffic.requests,
      inFlight: traffic.inFlight,
      connections,
      lasting: traffic.lasting + lobby.guests.size,
      elu: Math.round(since.utilization * 1000) / 1000,
      ...pauses.take(),
      debugged: inspector.url() !== undefined,
      ceiling: admission.ceiling === Infinity ? null : admission.ceiling
    })
  }
  const beat = () => {
    // `disconnect` is not emitted while a handle is under way on the channel, so it is not enough to listen for it.
    if (!link.isUp) return onLinkDown()
    traffic.sweep()
    admission.measure()
    say()
  }
  // Between two beats a worker may get its first connection and die of its first request: it had none, the last beat says.
  traffic.on('connection', () => { if (connections === 0) say() })
  setInterval(beat, everyMs).unref()
  return beat
}

module.exports = { startBeacon }
