'use strict'

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const fs = require('node:fs')
const { performance } = require('node:perf_hooks')

/**
 * Makes a copy tell its own pid, age, environment and number in the cluster. Its parent's pid Node asks the kernel for,
 * each time; performance's clock goes on from the mold's origin, which is all that its values promise.
 *
 * @param {Record<string, string>} env added to what is there
 */
function takeIdentity ({ NODE_UNIQUE_ID: id, ...env }) {
  const born = performance.now()
  define('pid', Number(fs.readlinkSync('/proc/self')))
  define('uptime', () => (performance.now() - born) / 1000)
  Object.assign(process.env, env)
  if (id === undefined || !cluster.worker) return
  cluster.worker.id = Number(id)
  process.send?.({ cmd: 'NODE_CLUSTER', act: 'online' }) // as Node does when a worker boots
}

/** @param {'pid' | 'uptime'} name @param {any} value */
function define (name, value) {
  const { enumerable, writable } = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(process, name))
  Object.defineProperty(process, name, { value, enumerable, writable, configurable: true })
}

module.exports = { takeIdentity }
