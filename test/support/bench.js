'use strict'

/** A bench by its `--quick`, in a process of its own: its output and its results. */

require('./bare-children')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')

const BENCH = path.join(__dirname, '..', '..', 'bench')

/**
 * @param {any} t tap's
 * @param {string} name of a file in bench/, without .js
 * @param {string[]} [flags]
 * @returns {Promise<{ said: string, results: any, figures: (group: string, subject: string) => Record<string, any> }>}
 *   `figures`: of its only round
 * @throws {Error} where it does not exit with 0
 */
async function quickBench (t, name, flags = []) {
  const out = path.join(t.testdir(), `${name}.json`)
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(BENCH, `${name}.js`), '--quick', '--out', out, ...flags])
  const results = JSON.parse(fs.readFileSync(out, 'utf8'))
  return {
    said: stdout,
    results,
    figures: (group, subject) => results.groups.find((/** @type {any} */ g) => g.name === group).subjects.find(
      (/** @type {any} */ s) => s.name === subject
    ).rounds[0]
  }
}

module.exports = { quickBench, BENCH }
