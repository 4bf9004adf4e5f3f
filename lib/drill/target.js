'use strict'

/** Where the load goes: what was asked for, else where the app turns out to listen. */

const net = require('node:net')
const { isIPv6 } = net

/**
 * @typedef {object} Target
 * @property {string} url for people
 * @property {boolean} secure
 * @property {string} host
 * @property {number} port
 * @property {string | null} socketPath instead of host and port
 */

const EVERY = { '': '127.0.0.1', null: '127.0.0.1', undefined: '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' }
const PROBE_MS = 5000

/** @param {URL} url @returns {Target} */
function targetOf (url) {
  const secure = url.protocol === 'https:'
  return {
    url: url.origin,
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 443 : 80)),
    socketPath: null
  }
}

/**
 * @param {Iterable<string>} addresses what workers listen on, as `worker.ready` says it: address:port:family:fd#ordinal
 * @param {number} port where the app was asked to listen, by PORT
 * @returns {Target | null} null: nowhere that can be told
 */
function findTarget (addresses, port) {
  const targets = [...addresses].map(readAddress).filter(target => target !== null)
  return targets.find(target => target.port === port) ?? targets[0] ?? null
}

/** @param {string} address @returns {Target | null} */
function readAddress (address) {
  const match = /^(.*):(-?\d*):(-?\d*):(-?\d*)#\d+$/.exec(address)
  if (!match) return null
  const [, where, port, family] = match
  if (Number(port) > 0) {
    const host = /** @type {Record<string, string>} */ (EVERY)[where] ?? where
    const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
    return { url, secure: false, host, port: Number(port), socketPath: null }
  }
  if (family === '-1' && where.startsWith('/')) return { url: `unix:${where}`, secure: false, host: 'localhost', port: 0, socketPath: where }
  return null
}

/**
 * Connects, and sends nothing.
 *
 * @param {Target} target
 * @returns {Promise<string | null>} null: a server listens there; else why not
 */
function probe ({ host, port, socketPath }) {
  return new Promise(resolve => {
    const socket = net.connect(socketPath ? { path: socketPath } : { host, port })
    socket.setTimeout(PROBE_MS, () => settle(`no answer within ${PROBE_MS} ms`))
    socket.once('connect', () => settle(null))
    socket.once('error', (/** @type {NodeJS.ErrnoException} */ error) => settle(error.code ?? error.message))
    /** @param {string | null} why */
    function settle (why) {
      socket.destroy()
      resolve(why)
    }
  })
}

/**
 * A port of the loopback interface that no server listens on. Not one of those that the kernel gives to clients: a client's
 * connection would do to keep the app from it.
 *
 * @returns {Promise<number>}
 */
async function freePort () {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = net.createServer()
    const isFree = await new Promise(resolve => server.once('error', () => resolve(false)).listen(port, () => resolve(true)))
    if (!isFree) continue
    await new Promise(resolve => server.close(resolve))
    return port
  }
}

module.exports = { targetOf, findTarget, probe, freePort }
