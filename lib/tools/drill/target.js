'use strict'

/** The target of the load: the given URL, else the address on which the app listens. */

const net = require('node:net')
const { isIPv6 } = net

/**
 * @typedef {object} Target
 * @property {string} url for messages
 * @property {boolean} secure @property {string} host @property {number} port
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
 * @param {Iterable<string>} addresses of the workers' servers, as in `worker.ready`: address:port:family:fd#ordinal
 * @param {number} port that the app got by PORT @returns {Target | null} null: not known
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
  if (family === '-1' && where.startsWith('/')) {
    return { url: `unix:${where}`, secure: false, host: 'localhost', port: 0, socketPath: where }
  }
  return null
}

/**
 * Connects, and sends nothing.
 * @param {Target} target @returns {Promise<string | null>} null: connected; else why not
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
 * A free port. It is not in the kernel's range for outgoing connections: such a connection could take the port before
 * the app listens on it.
 * @returns {Promise<number>}
 */
async function freePort () {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = net.createServer()
    const isFree = await new Promise(resolve =>
      server.once('error', () => resolve(false)).listen(port, () => resolve(true)))
    if (!isFree) continue
    await new Promise(resolve => server.close(resolve))
    return port
  }
}

module.exports = { targetOf, findTarget, probe, freePort }
