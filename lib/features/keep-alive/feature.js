'use strict'

/**
 * `--keep-alive-timeout`: how long the app's servers keep idle connections, unless the app says it itself. Without the
 * option a proxy that keeps its connections to the app for longer than the app does is warned of: now and then a
 * request of its comes just when the app closes the connection.
 */

/** @typedef {{ header: string, idleMs: number, timeoutMs: number }} Short a proxy's header, and its server's times */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'keep-alive',
  options: ({ row, types }) => [
    row('keepAliveTimeout', '--keep-alive-timeout <time>', types.time(1000, '1s'), null, "the app's, or Node's",
      "time for which the app's servers keep idle connections, unless the app sets server.keepAliveTimeout; " +
        'longer than the proxy in front keeps them, such as 65s', 'keepAliveTimeoutMs')
  ],
  group: 'Connections and requests:',
  isOn: () => true,
  habits: {
    '--keep-alive': { answer: 'write --keep-alive-timeout <time>' }
  },
  fromWorker: ({ kind, text, duration }) => ({
    'proxy-idle': kind('once, without --keep-alive-timeout: a request of a proxy, which has this `header`, ' +
      'has come on a connection that had been idle for `idleMs`, and its server closes idle ones after `timeoutMs`', {
      header: text(20), idleMs: duration, timeoutMs: duration
    })
  }),
  warnings: { 'keep-alive-timeout': line => sayShort(/** @type {any} */ (line)) },
  settings: ({ keepAliveTimeoutMs }) => ({ timeoutMs: keepAliveTimeoutMs }),
  primary: () => require('./primary').warnOfShort,
  worker: true,
  status: {
    key: 'keepAliveTimeout',
    lines: ({ short }, paint) => short === null ? [] : [paint('yellow', sayShort(short))]
  }
})

/** @param {Short} short */
function sayShort ({ header, idleMs, timeoutMs }) {
  return `a proxy (${header}) sends requests on connections that have been idle for ${seconds(idleMs)}, and the app ` +
    `closes idle ones after ${seconds(timeoutMs)}, Node.js's default: a request that meets a close fails (502); ` +
    'set --keep-alive-timeout to more than the idle timeout of the proxy, such as 65s'
}

/** @param {number} ms */
const seconds = ms => `${Math.round(ms / 100) / 10}s`
