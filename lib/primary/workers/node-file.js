'use strict'

/** The Node.js that workers run. */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { START_FOLDER } = require('./app-path')

const STARTED_WITH = process.execPath
const OWN = '/proc/self/exe' // what the kernel has of this process's, though it is gone from the disk

/**
 * @returns {string} this process's; where that is gone (upgraded, moved by a version manager), the one to which its
 *   name leads now
 */
function nodeToRun () {
  if (isExecutable(STARTED_WITH)) return STARTED_WITH
  const named = nodeOnDisk(process.argv0, STARTED_WITH, process.env.PATH, START_FOLDER)
  return named === STARTED_WITH && fs.existsSync(OWN) ? OWN : named
}

/**
 * The node that the command line finds now: its first word, which is "node" where a shell or `#!/usr/bin/env node` has
 * looked for it in PATH. Where there is none of that name, the file that runs.
 * @param {string} argv0 @param {string} execPath @param {string} [searched] PATH @param {string} [cwd] of the start
 * @returns {string} absolute
 */
function nodeOnDisk (argv0, execPath, searched = '', cwd = '/') {
  const folders = argv0.includes('/') ? [''] : searched.split(path.delimiter)
  return folders.map(folder => path.resolve(cwd, folder, argv0)).find(isExecutable) ?? execPath
}

/** @param {string} file */
const isExecutable = file => attempt(() => {
  fs.accessSync(file, fs.constants.X_OK)
  return fs.statSync(file).isFile()
}, false)

module.exports = { nodeToRun, nodeOnDisk, STARTED_WITH }
