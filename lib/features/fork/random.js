'use strict'

/**
 * Random numbers, of which every copy would give the same. What comes from OpenSSL does not repeat, since it looks at
 * the pid; what was drawn ahead does, and so does Math.random, whose state only V8 can reach. So the mold has a
 * Math.random of its own before the app is loaded (an app may keep a reference to it), and a copy seeds that anew.
 */

const crypto = require('node:crypto')

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

module.exports = { ownMathRandom, reseed }
