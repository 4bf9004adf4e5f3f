'use strict'

/** Sources of an addon, by its binding.gyp: a binary names the hash, so a test can tell when it is an old one. */

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

/** @param {string} folder of the addon @returns {string[]} */
const sourcesOf = folder => JSON.parse(fs.readFileSync(path.join(folder, 'binding.gyp'), 'utf8')).targets[0].sources

/** @param {string} folder of the addon @returns {string} in hex */
function sourceHash (folder) {
  const hash = createHash('sha256')
  const headers = fs.readdirSync(folder).filter(file => file.endsWith('.h')).sort()
  for (const file of [...sourcesOf(folder), ...headers]) hash.update(fs.readFileSync(path.join(folder, file)))
  return hash.digest('hex')
}

module.exports = { sourcesOf, sourceHash }
