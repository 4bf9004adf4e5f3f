'use strict'

/**
 * Packets by which a worker passes its connections to the primary, with their descriptors; the first is of its memory.
 * Each packet has a descriptor, so that it is read by itself.
 *
 * @typedef {import('../../core/shape').ValueOf<typeof SHAPE>} Packet
 */

const { LONGEST_PREFACE } = require('../../core/proxy-protocol')
const { count, duration, listOf, optional, orNull, parse, record, text } = require('../../core/shape')

const MEMORY = 'memory'
const MOST_DESCRIPTORS = 128
const MOST_PREFACES = 24 // with a packet shorter than 32 KiB
const MOST_ENDED = 1000
const TICK_MS = 25 // between two sendings of a worker: what lives for less is never told

const SHAPE = record({
  key: optional(text(8192)), // the server of those that have begun
  idleMs: optional(orNull(duration)), // how long that lets a connection be idle; null: for ever
  begun: optional(listOf(count, 2 * MOST_DESCRIPTORS)), // rows and serials in turn, in the order of the descriptors
  prefaces: optional(listOf(text(LONGEST_PREFACE), MOST_PREFACES)), // read before http, base64; missing: of none
  ended: optional(listOf(count, 2 * MOST_ENDED)) // rows and serials in turn
})

/** @param {Packet} packet */
const encode = packet => JSON.stringify(packet)

/** @param {string} text @returns {Packet | null} null: it is none: an app can write to any descriptor of its process */
const decode = text => parse(SHAPE, text)

module.exports = { MEMORY, MOST_DESCRIPTORS, MOST_PREFACES, MOST_ENDED, TICK_MS, encode, decode }
