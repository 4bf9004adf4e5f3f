'use strict'

/**
 * Requests at a fixed rate, a connection each, whatever becomes of them; some of them are poison. What became of the
 * others is noted.
 */

const http = require('node:http')
const { performance } = require('node:perf_hooks')
const { setTimeout: passed } = require('node:timers/promises')

const TICK_MS = 20
const TIMEOUT_MS = 10_000

/**
 * @param {{ port: number, rate: number, poisonRate: number, seconds: number }} how rates: requests a second
 * @returns {Promise<{ sent: number, answered: number, failed: number, errors: Record<string, number>, ms: number[] }>}
 *   of the others; `ms`: until each answer, ascending
 */
async function poison ({ port, rate, poisonRate, seconds }) {
  /** @type {number[]} */
  const ms = []
  /** @type {Record<string, number>} */
  const errors = {}
  /** @type {Promise<void>[]} */
  const open = []
  const send = (/** @type {string} */ path, /** @type {(error: string | null, tookMs: number) => void} */ ended) =>
    new Promise(resolve => {
      const began = performance.now()
      const end = (/** @type {string | null} */ error) => {
        ended(error, performance.now() - began)
        resolve(undefined)
      }
      const request = http.get({ host: '127.0.0.1', port, path, agent: false, timeout: TIMEOUT_MS }, response => {
        response.resume().on('end', () => end(response.statusCode === 200 ? null : `status ${response.statusCode}`)).on('error', () => end('cut'))
      })
      request.on('timeout', () => request.destroy(Object.assign(new Error(), { code: 'timeout' })))
      request.on('error', error => end(String(/** @type {NodeJS.ErrnoException} */ (error).code)))
    })
  const began = performance.now()
  let sent = 0
  let poisoned = 0
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - began) / 1000) {
    for (; poisoned < elapsed * poisonRate; poisoned++) send('/poison', () => {})
    for (; sent < elapsed * rate; sent++) {
      open.push(/** @type {any} */ (send('/', (error, tookMs) => {
        if (error === null) ms.push(tookMs)
        else errors[error] = (errors[error] ?? 0) + 1
      })))
    }
    await passed(TICK_MS)
  }
  await Promise.all(open)
  return { sent, answered: ms.length, failed: sent - ms.length, errors, ms: ms.sort((a, b) => a - b) }
}

module.exports = { poison }
