'use strict'

/**
 * Says every so often that this worker lives, and what it is doing. Pushed, never asked for: the primary measures a
 * worker from outside and knows a stuck one by its silence.
 */

const inspector = require('node:inspector')
const { performance } = require('node:perf_hooks')
const { setInterval } = require('node:timers')
const { GcPauses } = require('./gc-pauses')

/**
 * @param {number} everyMs
 * @param {object} deps
 * @param {import('../channel').Channel} deps.channel
 * @param {import('../connections/tracker').ConnectionTracker} deps.tracker
 * @param {import('../handoff/inbox').Inbox} deps.inbox
 * @param {import('../accepting/admission').Admission} deps.admission
 * @param {() => void} onLinkDown
 * @returns {() => void} sends a beat now
 */
function startHeartbeat (everyMs, { channel, tracker, inbox, admission }, onLinkDown) {
  const pauses = new GcPauses()
  let elu = performance.eventLoopUtilization()
  let connections = 0
  const say = () => {
    connections = tracker.connections.size + inbox.entries.size
    const since = performance.eventLoopUtilization(elu)
    elu = performance.eventLoopUtilization()
    channel.send('beat', {
      requests: tracker.requests,
      inFlight: tracker.inFlight,
      connections,
      lasting: tracker.lasting + inbox.entries.size,
      elu: Math.round(since.utilization * 1000) / 1000,
      ...pauses.take(),
      debugged: inspector.url() !== undefined,
      ceiling: admission.ceiling === Infinity ? null : admission.ceiling
    })
  }
  const beat = () => {
    // `disconnect` is not emitted while a handle is under way on the channel, so it is not enough to listen for it.
    if (!channel.isUp) return onLinkDown()
    tracker.sweep()
    admission.measure()
    say()
  }
  // Between two beats a worker may get its first connection and die of its first request: it had none, the last beat says.
  tracker.on('connection', () => { if (connections === 0) say() })
  setInterval(beat, everyMs).unref()
  return beat
}

module.exports = { startHeartbeat }
