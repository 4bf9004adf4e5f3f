'use strict'

/**
 * How long each step of a stop may take. By `--stop-timeout` they follow from one number, the time until the platform
 * kills what is left:
 *
 *     ├─ before the stop ─┼─ drain ───────────────┼─ SIGTERM to SIGKILL ─┼─ the rest ────────────┤
 *       --stop-delay        what the others leave   a fifth, at most 5 s   a fifth, 1.5 to 5 s
 *
 * The rest is for accounts, the journal, a busy machine.
 *
 * --drain-timeout and --kill-timeout hold where they are given, or are refused where they do not fit. Without
 * --stop-timeout they are the stop's.
 */

const SHARE = 1 / 5
const MOST_MS = 5000
const LEAST_REST_MS = 1500 // streams are told at the end of the drain, and have a second
const LEAST_DRAIN_MS = 500
const SLACK_MS = 10_000 // without --stop-timeout

/** @typedef {{ beforeMs: number, drainMs: number, killMs: number, totalMs: number }} StopTimes `totalMs`: with more */

/**
 * @param {import('../tables/options').Options} options
 * @param {number} beforeMs that pass before the stop begins, at the most
 * @param {{ isGiven: (name: string) => boolean, called: (name: string) => string, refuse: (name: string,
 *   accepts: string) => never }} by
 * @returns {Readonly<StopTimes>}
 */
function stopTimes (options, beforeMs, { isGiven, called, refuse }) {
  const { stopTimeoutMs: totalMs, drainTimeoutMs, killTimeoutMs } = options
  if (totalMs === null) {
    return {
      beforeMs,
      drainMs: drainTimeoutMs,
      killMs: killTimeoutMs,
      totalMs: beforeMs + drainTimeoutMs + killTimeoutMs + SLACK_MS
    }
  }
  const restMs = Math.min(MOST_MS, Math.max(LEAST_REST_MS, SHARE * totalMs))
  const killMs = isGiven('killTimeout') ? killTimeoutMs : Math.min(MOST_MS, SHARE * totalMs)
  const leftMs = totalMs - beforeMs - restMs - killMs
  const within = `${called('stopTimeout')} ${seconds(totalMs)}`
  if (leftMs < LEAST_DRAIN_MS && isGiven('killTimeout') && leftMs + killMs > LEAST_DRAIN_MS) {
    return refuse('killTimeout', `a time of at most ${seconds(leftMs + killMs - LEAST_DRAIN_MS)} with ${within}`)
  }
  if (leftMs < LEAST_DRAIN_MS) {
    return refuse('stopTimeout', `a time in which a worker can drain after the ${seconds(beforeMs)} before ` +
      `it is told, such as ${seconds(beforeMs + MOST_MS + Math.max(MOST_MS, killMs))}`)
  }
  if (isGiven('drainTimeout') && drainTimeoutMs > leftMs) {
    return refuse('drainTimeout', `a time of at most ${seconds(leftMs)} with ${within}`)
  }
  return { beforeMs, drainMs: isGiven('drainTimeout') ? drainTimeoutMs : leftMs, killMs, totalMs }
}

/** @param {number} ms */
const seconds = ms => `${Math.floor(ms / 100) / 10}s`

module.exports = { stopTimes }
