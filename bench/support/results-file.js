'use strict'

/**
 * Where a bench keeps what it has measured, and where it is read from. A run writes to `<file>.partial` and renames that to `<file>` when it
 * is complete: a run that is broken off leaves the published file as it was.
 */

const fs = require('node:fs')
const path = require('node:path')
const { BadFlag } = require('./flags')
const { isSameMachine } = require('./machine')

/** What is published. */
const RESULTS = path.join(__dirname, '..', 'results')

class ResultsFile {
  /** @param {string | null} file null: nothing is kept @throws {BadFlag} it cannot be written */
  constructor (file) {
    this.file = file
    this.partial = file && `${file}.partial`
    if (!file) return
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.accessSync(path.dirname(file), fs.constants.W_OK)
    } catch (error) {
      throw new BadFlag(`--out takes a file that can be written; ${file} cannot (${/** @type {NodeJS.ErrnoException} */ (error).code})`)
    }
  }

  /**
   * The complete groups of a run that was broken off.
   *
   * @param {{ machine: import('./machine').Machine, settings: Record<string, any> }} now
   * @returns {import('./results').Group[]} none, where no run was
   * @throws {BadFlag} it had other flags, or another machine
   */
  unfinished ({ machine, settings }) {
    if (!this.partial || !fs.existsSync(this.partial)) return []
    const kept = JSON.parse(fs.readFileSync(this.partial, 'utf8'))
    const isSame = JSON.stringify(kept.settings) === JSON.stringify(settings) && isSameMachine(kept.machine, machine)
    if (!isSame) throw new BadFlag(`--resume goes on with the same flags on the same machine; ${this.partial} has others`)
    return kept.groups
  }

  /** @param {any} results */
  save (results) {
    if (!this.partial) return
    fs.writeFileSync(`${this.partial}.new`, text(results))
    fs.renameSync(`${this.partial}.new`, this.partial)
  }

  /** The run is complete. */
  finish () {
    if (this.file && this.partial) fs.renameSync(this.partial, this.file)
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
