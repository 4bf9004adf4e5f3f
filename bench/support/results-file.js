'use strict'

/**
 * The files with the results of benches. A run writes its file when it is complete: an interrupted run leaves the
 * published file as it was.
 */

const fs = require('node:fs')
const path = require('node:path')
const { BadFlag } = require('./flags')

/** What is published. */
const RESULTS = path.join(__dirname, '..', 'results')

class ResultsFile {
  /** @param {string | null} file null: nothing is kept @throws {BadFlag} it cannot be written */
  constructor (file) {
    this.file = file
    if (!file) return
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.accessSync(path.dirname(file), fs.constants.W_OK)
    } catch (error) {
      throw new BadFlag(`--out takes a file that can be written; ${file} cannot (${/** @type {NodeJS.ErrnoException} */ (error).code})`)
    }
  }

  /** @param {any} results of a complete run */
  save (results) {
    if (!this.file) return
    fs.writeFileSync(`${this.file}.new`, text(results))
    fs.renameSync(`${this.file}.new`, this.file)
  }
}

/** A line for each round of each subject. @param {any} results */
function text (results) {
  const rounded = (/** @type {string} */ _, /** @type {any} */ value) => typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
  return `${JSON.stringify(results, rounded, 1).replace(/\n {5,}/g, ' ').replace(/ (\n {4})([\]}])/g, '$1$2')}\n`
}

/** @param {string} [folder] @returns {{ file: string, bench: string, node: number }[]} by version of Node, ascending */
function savedIn (folder = RESULTS) {
  return fs.readdirSync(folder).flatMap(name => {
    const [, bench, node] = /^(.+)-node(\d+)\.json$/.exec(name) ?? []
    return bench ? [{ file: path.join(folder, name), bench, node: Number(node) }] : []
  }).sort((a, b) => a.node - b.node)
}

/**
 * @param {string} bench such as gc or gc-raw
 * @param {string} [folder]
 * @returns {any[]} its results, by version of Node, ascending
 */
function readResults (bench, folder) {
  return savedIn(folder).filter(saved => saved.bench === bench)
    .map(({ file }) => JSON.parse(fs.readFileSync(file, 'utf8')))
    .filter(({ v }) => v === 1)
}

module.exports = { RESULTS, ResultsFile, readResults, savedIn }
