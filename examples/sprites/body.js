'use strict'

/** The body of a request, as JSON. */

class BadBody extends Error {
  /** @param {number} status @param {string} message */
  constructor (status, message) {
    super(message)
    this.status = status
  }
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {number} longest in bytes
 * @returns {Promise<unknown>}
 * @throws {BadBody} with the `status` to answer: 413, 400
 */
async function readJson (request, longest) {
  /** @type {Buffer[]} */
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= longest) chunks.push(chunk) // the rest is read, so that the connection can be used again
  }
  if (bytes > longest) throw new BadBody(413, `a sprite has at most ${longest} bytes`)
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new BadBody(400, 'the body is not JSON')
  }
}

module.exports = { readJson }
