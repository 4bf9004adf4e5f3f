'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** @type {string[]} */
const folders = []

/** @returns {string} a new folder, deleted when this process ends, in whatever way */
function temporaryFolder () {
  if (folders.length === 0) process.once('exit', () => folders.forEach(folder => fs.rmSync(folder, { recursive: true, force: true })))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-bench-'))
  folders.push(folder)
  return folder
}

module.exports = { temporaryFolder }
