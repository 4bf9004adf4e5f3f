'use strict'

/**
 * What is done to a worker, each step with its deadline armed before the task. These are the deeds alone; whether and
 * when is for others to decide.
 */

const { openAccount, lostAccount } = require('../../core/account')
const { now } = require('../clock')

const ANSWER_MS = 2000 // beyond its deadline, for a worker to say what it cut
const REAP_MS = 10_000

/**
 * @typedef {import('./worker-handle').WorkerHandle} WorkerHandle
 *
 * @typedef {object} Order how a worker is to drain; see worker/drain.js
 * @property {string} reason
 * @property {number} deadlineMs
 * @property {number | null} lingerMs
 * @property {boolean} handoff
 *
 * @typedef {import('../../core/account').Account & { lost: boolean }} FinalAccount `lost`: the worker did not answer;
 *   `inFlight`, `connections`, `cut` and `unaccounted` are by its last beat
 */

/**
 * @param {WorkerHandle} handle
 * @param {number} timeoutMs
 * @param {'ready' | 'standby'} [what]
 * @returns {Promise<string | null>} null: it is ready; else why it is not
 */
async function becomesReady (handle, timeoutMs, what = 'ready') {
  if (handle.readyAt !== null) return null
  const { event, value } = await handle.next([what, 'exit'], timeoutMs)
  if (event === what) return null
  if (event === 'exit') return `it ${howItLeft(value)}`
  const missing = [...handle.terms.mustListenOn].filter(key => !handle.addresses.has(key))
  return `it was not ready within ${timeoutMs} ms${missing.length ? `; it does not listen on ${missing.join(', ')}, as the others do` : ''}`
}

/**
 * Drains a worker and ends it: SIGTERM, so that the app's own handlers can close its pools, and SIGKILL when that takes
 * too long. A worker that does not answer is killed.
 *
 * @param {WorkerHandle} handle
 * @param {string} reason
 * @param {{ drainTimeoutMs: number, killTimeoutMs: number, handoff: boolean }} options
 * @param {(event: string, fields: Record<string, any>) => unknown} record
 * @param {number | null} [lingerMs] how long idle connections are held; null: as long as the drain lasts
 * @returns {Promise<{ account: FinalAccount, drainMs: number }>}
 */
async function drainAndRetire (handle, reason, { drainTimeoutMs, killTimeoutMs, handoff }, record, lingerMs = null) {
  const began = now()
  if (handle.isGone) return { account: { ...openAccount(0, 0), lost: false }, drainMs: 0 } // what it had in flight, its crash has told
  if (['spawning', 'standby', 'ready', 'out-of-rotation'].includes(handle.state)) handle.become('draining')
  const { slot, pid, connections, latest: { inFlight } } = handle
  record('worker.drain', { slot, pid, reason, connections, inFlight })
  const deadlineMs = reason === 'stuck' ? killTimeoutMs : drainTimeoutMs
  const account = await drain(handle, { reason, deadlineMs, lingerMs, handoff })
  const drainMs = now() - began
  await (account.lost ? kill(handle) : retire(handle, killTimeoutMs))
  return { account, drainMs }
}

/** @param {WorkerHandle} handle @param {Order} order @returns {Promise<FinalAccount>} */
async function drain (handle, order) {
  const answer = handle.next(['drained', 'exit'], order.deadlineMs + ANSWER_MS)
  handle.send('drain', order)
  const { event, value } = await answer
  if (event === 'drained') return { ...value, lost: false }
  return { ...lostAccount(handle.connections, handle.latest.inFlight), lost: true }
}

/** @param {WorkerHandle} handle @param {number} killTimeoutMs */
async function retire (handle, killTimeoutMs) {
  const gone = handle.next(['exit'], killTimeoutMs)
  handle.kill('SIGTERM')
  if ((await gone).event !== 'exit') await kill(handle)
}

/** @param {WorkerHandle} handle */
async function kill (handle) {
  if (handle.isGone) return
  const gone = handle.next(['exit'], REAP_MS)
  handle.kill('SIGKILL')
  await gone
}

/** @param {WorkerHandle} handle one that has not become ready */
async function giveUp (handle) {
  if (!handle.isGone && ['spawning', 'standby'].includes(handle.state)) await kill(handle)
}

/** It stays in service after all. @param {WorkerHandle} handle @param {(event: string, fields: Record<string, any>) => unknown} record */
function keep (handle, record) {
  const { slot, pid, reason } = handle
  handle.keep()
  record('worker.keep', { slot, pid, reason })
}

/** @param {import('./channel').Left} left */
function howItLeft ({ code, signal, error }) {
  if (error) return `could not be started (${error})`
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}

module.exports = { becomesReady, drainAndRetire, kill, giveUp, keep, howItLeft }
