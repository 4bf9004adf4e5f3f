'use strict'

/**
 * Sends the primary this worker's figures at an interval. They are pushed, never requested: the primary measures a
 * worker from outside, and finds a stuck one by its missing heartbeats. A few workers send them at the same time, just
 * before the primary wakes for its own work: it uses two thirds of the CPU time then, where the fleet is idle. Not all
 * do: that would take the CPUs from requests. What else is done at an interval is done with them, also without a
 * primary.
 */

const inspector = require('node:inspector')
const { performance } = require('node:perf_hooks')
const { setImmediate, setTimeout } = require('node:timers')
const { untilNext } = require('../../native/every')

const AT_ONCE = 8 // workers
const TIMES = 8 // in an interval
const AHEAD_MS = 4

/**
 * @param {Pick<import('../prepare').Settings, 'beatMs'>} settings
 * @param {Pick<import('../enter').Parts, 'channel' | 'tracker' | 'inbox' | 'admission'> & {
 *   loads: import('../connections/loads').Loads, pauses: import('./gc-pauses').GcPauses,
 *   features: import('../../features/interface').WorkerPart[] }} parts
 * @returns {() => void} sends a beat now
 */
function startHeartbeat ({ beatMs }, { channel, tracker, inbox, loads, admission, pauses, features }) {
  let elu = performance.eventLoopUtilization()
  let connections = 0
  const send = () => {
    connections = tracker.connections.size
    const { utilization } = performance.eventLoopUtilization(elu)
    elu = performance.eventLoopUtilization()
    const { user, system } = process.cpuUsage()
    channel.send('beat', {
      requests: tracker.requests.begun,
      inFlight: tracker.requests.inFlight,
      connections,
      lasting: loads.lasting,
      streams: loads.streams,
      elu: Math.round(utilization * 1000) / 1000,
      cpuUs: user + system,
      movable: Math.round(Math.min(1, loads.movable) * 1000) / 1000,
      ...pauses.take(),
      flexible: loads.fixed === 0 && admission.hasRoom,
      inspectorPort: inspectorPort(),
      ceiling: admission.ceiling === Infinity ? null : admission.ceiling,
      ...Object.assign({}, ...features.map(feature => feature.figures?.()))
    })
  }
  const beat = () => {
    inbox.sweep()
    for (const { listening } of admission.acceptors) listening.rearm()
    pauses.beat(beatMs)
    if (!channel.check()) return
    tracker.sweep()
    loads.measure()
    admission.measure()
    send()
    for (const feature of features) feature.beat?.()
  }
  // A worker can die of its first request before its next heartbeat: the last one would report no connections.
  tracker.on('connection', () => { if (connections === 0) send() })
  setImmediate(send) // the first says that the app's code is loaded
  const group = Math.floor(Number(process.env.RECYCLE_SLOT) / AT_ONCE) || 0
  const afterMs = group % TIMES / TIMES * beatMs - AHEAD_MS
  const beatAgain = () => {
    setTimeout(() => {
      beatAgain()
      beat()
    }, untilNext(beatMs, afterMs)).unref()
  }
  beatAgain()
  return beat
}

/** @returns {number | null} null: none is open */
function inspectorPort () {
  const url = inspector.url()
  return url === undefined ? null : Number(new URL(url).port)
}

module.exports = { startHeartbeat, inspectorPort }
