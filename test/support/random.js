'use strict'

/** A seeded generator of numbers from 0 to 1 (mulberry32). @param {number} seed */
function seeded (seed) {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

module.exports = { seeded }
