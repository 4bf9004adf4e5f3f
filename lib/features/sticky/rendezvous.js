'use strict'

/**
 * Rendezvous hashing (Thaler and Ravishankar, 1998): every slot gets a weight for a key, and the heaviest slot owns it.
 * When a slot comes or goes, only the keys that it gains or loses change their owner.
 */

/**
 * @param {string} key @param {readonly number[]} slots their numbers, at least one
 * @returns {number} the slot that owns the key
 */
function ownerOf (key, slots) {
  const hash = fnv1a(key)
  let [owner] = slots
  let most = -1
  for (const slot of slots) {
    const weight = mix(hash ^ Math.imul(slot + 1, 0x9E3779B1))
    if (weight > most) [owner, most] = [slot, weight]
  }
  return owner
}

/** FNV-1a over the UTF-16 code units. @param {string} text @returns {number} 32 bits */
function fnv1a (text) {
  let hash = 0x811C9DC5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/**
 * MurmurHash3's finaliser: each bit of the input changes half of the output.
 * @param {number} hash @returns {number} 0 to 2^32 - 1
 */
function mix (hash) {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85EBCA6B)
  hash = Math.imul(hash ^ (hash >>> 13), 0xC2B2AE35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A stand-in for a key where it must not be told. @param {string} key @returns {number} 32 bits */
const hashOf = key => mix(fnv1a(key))

module.exports = { ownerOf, hashOf }
