'use strict'

/**
 * Test files that run in one process: for small ones, Node.js, tap and the code under test cost more than the test.
 * Each runs alone, too: `node test/core/plan.test.js`.
 */

const fs = require('node:fs')
const path = require('node:path')

const TEST = path.join(__dirname, '..')

/** The folders of test/ whose files are run by a bundle, and not each for itself. */
const BUNDLES = {
  core: ['core'],
  features: ['features'],
  parts: ['control', 'docs', 'journal'],
  primary: ['native', 'primary'],
  report: ['report'],
  worker: ['worker']
}

/** @param {string} folder of test/ @returns {string[]} all files of tests in it, in order */
function testFiles (folder) {
  return fs.readdirSync(path.join(TEST, folder), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.test.js')).sort().map(name => path.join(TEST, folder, name))
}

/** Runs the files of a bundle. @param {keyof typeof BUNDLES} name */
function run (name) {
  for (const file of BUNDLES[name].flatMap(testFiles)) require(file)
}

module.exports = { BUNDLES, run, testFiles }
