'use strict'

/** The files that the addon is made of: a binary names their hash, so a test can tell when it is an old one. */

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

const SOURCES = ['fork.c', 'duplicates.c', 'reads.c']

/** @param {string} folder of the sources @returns {string} in hex */
function sourceHash (folder) {
  const hash = createHash('sha256')
  for (const file of [...SOURCES, 'values.h']) hash.update(fs.readFileSync(path.join(folder, file)))
  return hash.digest('hex')
}

module.exports = { SOURCES, sourceHash }
