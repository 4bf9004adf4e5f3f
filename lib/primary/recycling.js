'use strict'

/**
 * What is done to a worker, step by step, each with its deadline armed before the deed:
 *
 *     raise    spawn a successor beside it and wait until it is ready
 *     drain    let it finish: it answers with an account of what became of everything
 *     retire   SIGTERM, so that the app's own handlers can close its pools; SIGKILL when that takes too long
 *
 * These are the deeds alone. Whether and when is the supervisor's to decide.
 */

const { openAccount } = require('../core/account')

const ANSWER_MS = 2000 // beyond its deadline, for a worker to say what it cut
const REAP_MS = 10_000

/**
 * @typedef {import('./handle').Handle} Handle
 * @typedef {import('../core/account').Account & { lost: boolean }} FinalAccount `lost`: the worker did not answer;
 *   `inFlight`, `connections` and `cut` are by its last beat
 */

/**
 * Waits until a worker is ready.
 *
 * @param {Handle} handle
 * @param {number} timeoutMs
 * @returns {Promise<string | null>} null: it is; else why it is not
 */
async function becomesReady (handle, timeoutMs) {
  if (handle.readyAt !== null) return null
  const { event, value } = await handle.next(['ready', 'exit'], timeoutMs)
  if (event === 'ready') return null
  return event === 'exit' ? `it ${howItLeft(value)}` : `it was not ready within ${timeoutMs} ms`
}

/**
 * @param {Handle} handle in state `draining`
 * @param {{ reason: string, deadlineMs: number, lingerMs: number | null, handoff: boolean }} order
 * @returns {Promise<FinalAccount>}
 */
async function drain (handle, order) {
  const answer = handle.next(['drained', 'exit'], order.deadlineMs + ANSWER_MS)
  handle.send('drain', order)
  const { event, value } = await answer
  if (event === 'drained') return { ...value, lost: false }
  const { connections, inFlight } = handle.latest
  return { ...openAccount(connections, inFlight), cut: inFlight, lost: true }
}

/**
 * @param {Handle} handle
 * @param {number} killTimeoutMs
 * @returns {Promise<boolean>} it had to be killed
 */
async function retire (handle, killTimeoutMs) {
  if (handle.isGone) return false
  const gone = handle.next(['exit'], killTimeoutMs)
  handle.kill('SIGTERM')
  if ((await gone).event === 'exit') return false
  await kill(handle)
  return true
}

/** @param {Handle} handle */
async function kill (handle) {
  const gone = handle.next(['exit'], REAP_MS)
  handle.kill('SIGKILL')
  await gone
}

/** @param {{ code: number | null, signal: string | null }} left */
function howItLeft ({ code, signal }) {
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}

module.exports = { becomesReady, drain, retire, kill, howItLeft }
