'use strict'

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const crypto = require('node:crypto')
const fs = require('node:fs')
const { performance } = require('node:perf_hooks')

/**
 * Makes a copy tell its own pid, age, environment and number in the cluster. Its parent's pid Node asks the kernel for,
 * each time; performance's clock goes on from the mold's origin, which is all that its values promise.
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

/** @param {'pid' | 'uptime'} name @param {unknown} value */
function define (name, value) {
  const { enumerable, writable } = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(process, name))
  Object.defineProperty(process, name, { value, enumerable, writable, configurable: true })
}

/**
 * Random numbers, of which every copy would give the same. What comes from OpenSSL does not repeat, since it looks at
 * the pid; what was drawn ahead does, and so does Math.random, whose state only V8 can reach. So the mold has a
 * Math.random of its own before the app is loaded (an app may keep a reference to it), and a copy seeds that anew.
 */

/** As many as Node draws ahead, in 20 to 26, of either kind. */
const UUIDS_AHEAD = 128
const INTS_AHEAD = 1024

/** The state of xoshiro128**, by Blackman and Vigna: 32-bit arithmetic, which V8 does without an allocation. */
const state = new Int32Array(4)

/** @returns {number} as of V8's, in [0, 1) with 52 bits */
function random () {
  const high = next() >>> 6
  return (high * 0x4000000 + (next() >>> 6)) / 0x10000000000000
}

function next () {
  const s1 = state[1]
  const times5 = Math.imul(s1, 5)
  const result = Math.imul((times5 << 7) | (times5 >>> 25), 9)
  state[2] ^= state[0]
  state[3] ^= s1
  state[1] ^= state[2]
  state[0] ^= state[3]
  state[2] ^= s1 << 9
  const s3 = state[3]
  state[3] = (s3 << 11) | (s3 >>> 21)
  return result
}

/** In the mold, before the app is loaded. */
function ownMathRandom () {
  crypto.randomFillSync(state)
  Math.random = { random }.random
}

/** In a copy, before anything of the app's runs. */
function reseed () {
  crypto.randomFillSync(state)
  for (let i = 0; i < UUIDS_AHEAD; i++) crypto.randomUUID()
  for (let i = 0; i < INTS_AHEAD; i++) crypto.randomInt(2)
}

module.exports = { takeIdentity, ownMathRandom, reseed }
