'use strict'

const fs = require('node:fs')
const readline = require('node:readline')
const { RecycleError } = require('../core/errors')

/**
 * Reads a journal line by line. Lines that are no JSON objects (the last one, cut short by a crash) are passed over,
 * and so are versions this code does not know.
 *
 * @param {string} file
 * @returns {AsyncGenerator<Record<string, any>>}
 * @throws {RecycleError} RECYCLE_UNREADABLE
 */
async function * readJournal (file) {
  const input = fs.createReadStream(file)
  const failure = new Promise((resolve, reject) => {
    input.once('open', resolve)
    input.once('error', error => reject(new RecycleError('RECYCLE_UNREADABLE', { file, why: error.message })))
  })
  await failure
  for await (const text of readline.createInterface({ input, crlfDelay: Infinity })) {
    const line = parse(text)
    if (line?.v === 1 && typeof line.event === 'string') yield line
  }
}

/** @param {string} text */
function parse (text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

module.exports = { readJournal }
