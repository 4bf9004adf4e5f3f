'use strict'

/**
 * autocannon as the load, in a process of its own, with figures as those of load.js. autocannon rounds throughput to
 * whole seconds and latencies to whole milliseconds, so both are taken from its events.
 *
 * It cannot count drops: it writes the next request although a response announced `Connection: close`, and ignores a
 * close without a response. So `dropped` and `refused` are left out, and `unanswered` is the number of `requests`
 * without a response of status 200.
 */

const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { percentiles } = require('./statistics')

/**
 * @param {import('./load').Load & { requests: number }} how
 * @returns {Promise<Omit<import('./load').Figures, 'dropped' | 'refused'>>}
 */
async function autocannon (how) {
  const { stdout } = await promisify(execFile)(process.execPath, [__filename, JSON.stringify(how)])
  return JSON.parse(stdout)
}

/** @param {{ port: number, connections: number, requests: number, seconds: number }} how */
async function make ({ port, connections, requests, seconds: longest }) {
  /** @type {number[]} */
  const latencies = []
  const began = performance.now()
  let last = began
  const instance = /** @type {any} */ (require('autocannon'))({ url: `http://127.0.0.1:${port}/`, connections, amount: requests })
  setTimeout(() => instance.stop(), longest * 1000).unref()
  instance.on('response', (/** @type {unknown} */ _, /** @type {number} */ status, /** @type {unknown} */ __, /** @type {number} */ ms) => {
    if (status !== 200) return
    latencies.push(ms)
    last = performance.now()
  })
  const { errors, timeouts, non2xx, resets, requests: { sent } } = await instance
  const seconds = (last - began) / 1000
  console.log(JSON.stringify({
    requests: sent,
    unanswered: sent - latencies.length,
    errors: { errors, timeouts, non2xx, resets },
    sockets: connections + resets,
    seconds,
    rps: latencies.length / seconds,
    ...percentiles(latencies)
  }))
}

if (require.main === module) make(JSON.parse(process.argv[2]))
else module.exports = { autocannon }
