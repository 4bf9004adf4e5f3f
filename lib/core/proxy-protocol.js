'use strict'

/** The header of the PROXY protocol, by which a load balancer names the client's address once on each connection. */

const MOST_BYTES = 536 // for which a reader is to have room
const LONGEST_PREFACE = 4 * Math.ceil(MOST_BYTES / 3) // in base64
const LINE = /^PROXY [^\r\n]*\r\n$/ // version 1
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex') // version 2
const LENGTH_AT = 14 // of what follows the first 16 bytes
const FIXED_BYTES = 16

/** @param {Buffer} bytes @returns {boolean} they are such a header, to its end */
function isProxyHeader (bytes) {
  if (bytes.length > MOST_BYTES) return false
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return LINE.test(bytes.toString('latin1'))
  return bytes.length >= FIXED_BYTES && bytes.length === FIXED_BYTES + bytes.readUInt16BE(LENGTH_AT)
}

module.exports = { MOST_BYTES, LONGEST_PREFACE, isProxyHeader }
