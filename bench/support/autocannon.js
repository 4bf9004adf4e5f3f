'use strict'

/**
 * autocannon as the load, in a process of its own, with the figures of load.js: a second opinion at saturation. Its own
 * throughput is rounded to whole seconds and its latencies to whole milliseconds, so both are taken from its events; and it does not count
 * a connection that is closed under a request, so `dropped` is what of `requests` never got a response of status 200.
 */

const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { percentiles } = require('./statistics')

/** @param {import('./load').Load & { requests: number }} how @returns {Promise<import('./load').Figures>} */
async function autocannon (how) {
  const { stdout } = await promisify(execFile)(process.execPath, [__filename, JSON.stringify(how)])
  return JSON.parse(stdout)
}

/** @param {{ port: number, connections: number, requests: number, path?: string }} how */
async function make ({ port, connections, requests, path = '/' }) {
  /** @type {number[]} */
  const latencies = []
  const began = performance.now()
  let last = began
  const instance = /** @type {any} */ (require('autocannon'))({ url: `http://127.0.0.1:${port}${path}`, connections, amount: requests })
  instance.on('response', (/** @type {unknown} */ _, /** @type {number} */ status, /** @type {unknown} */ __, /** @type {number} */ ms) => {
    if (status !== 200) return
    latencies.push(ms)
    last = performance.now()
  })
  const { errors, timeouts, non2xx, resets } = await instance
  const seconds = (last - began) / 1000
  console.log(JSON.stringify({
    requests,
    dropped: requests - latencies.length,
    errors: { errors, timeouts, non2xx, resets },
    sockets: connections + resets,
    seconds,
    rps: latencies.length / seconds,
    ...percentiles(latencies)
  }))
}

if (require.main === module) make(JSON.parse(process.argv[2]))
else module.exports = { autocannon }
