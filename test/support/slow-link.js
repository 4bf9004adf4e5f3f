'use strict'

/**
 * A way to a server that takes as long in either direction as that of a load balancer in another zone: what one side
 * does, the other one sees late.
 */

const net = require('node:net')

/**
 * @param {any} t tap's
 * @param {number} port of 127.0.0.1
 * @param {number} latencyMs in one direction
 * @returns {Promise<number>} the port of the near end
 */
async function openSlowLink (t, port, latencyMs) {
  const pass = (/** @type {net.Socket} */ from, /** @type {net.Socket} */ to) => {
    const later = (/** @type {() => void} */ fn) => setTimeout(() => { if (!to.destroyed) fn() }, latencyMs)
    from.setNoDelay(true)
    from.on('data', chunk => later(() => to.write(chunk)))
    from.on('end', () => later(() => to.end()))
    from.on('error', () => later(() => to.resetAndDestroy()))
    from.on('close', () => later(() => to.destroy()))
  }
  const server = net.createServer({ allowHalfOpen: true }, near => {
    const far = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => { near.destroy(); far.destroy() })
    pass(near, far)
    pass(far, near)
  })
  t.teardown(() => server.close())
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(/** @type {net.AddressInfo} */ (server.address()).port)))
}

module.exports = { openSlowLink }
