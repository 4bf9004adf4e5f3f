'use strict'

/** @typedef {{ header: string, idleMs: number, timeoutMs: number }} Short a proxy's header, and its server's times */

/** @param {Short} short */
function sayShort ({ header, idleMs, timeoutMs }) {
  return `a proxy (${header}) sends requests on connections that have been idle for ${seconds(idleMs)}, and the app ` +
    `closes idle ones after ${seconds(timeoutMs)}, Node.js's default: a request that meets a close fails (502); ` +
    'set --keep-alive-timeout to more than the idle timeout of the proxy, such as 65s'
}

/** @param {number} ms */
const seconds = ms => `${Math.round(ms / 100) / 10}s`

module.exports = { sayShort }
