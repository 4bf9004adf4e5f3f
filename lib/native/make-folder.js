'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * Creates a folder and those above it that are missing. Node's `recursive` does not return below Node 26 where a folder
 * cannot be created although the one above it is there, as in /proc.
 * @param {string} folder absolute @param {number} [mode]
 * @throws {NodeJS.ErrnoException} as of fs.mkdirSync(), but for EEXIST
 */
function makeFolder (folder, mode) {
  if (fs.existsSync(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeFolder(parent, mode)
  try {
    fs.mkdirSync(folder, { mode })
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error // another process was faster
  }
}

module.exports = { makeFolder }
