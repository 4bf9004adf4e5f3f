'use strict'

/**
 * Where a bench keeps what it has measured. A run writes to `<file>.partial` after each measurement, and puts it in the
 * place of `<file>` when it is complete: a run that is broken off destroys nothing, and can be gone on with.
 */

const fs = require('node:fs')
const path = require('node:path')
const { BadFlag } = require('./flags')

class ResultsFile {
  /** @param {string | null} file null: nothing is kept */
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
   * What an earlier run has left, to be gone on with.
   *
   * @param {Record<string, any>} settings
   * @param {string[]} [selects] flags that may differ, since all they do is choose among the groups
   * @returns {any} null: nothing
   * @throws {BadFlag} it was taken with other flags, or is no results file
   */
  earlier (settings, selects = []) {
    const file = [this.partial, this.file].find(file => file && fs.existsSync(file))
    if (!file) return null
    let kept
    try {
      kept = JSON.parse(fs.readFileSync(file, 'utf8'))
    } catch {
      throw new BadFlag(`--resume takes the results of a bench; ${file} holds none`)
    }
    const compared = (/** @type {Record<string, any>} */ settings) => JSON.stringify({ ...settings, ...Object.fromEntries(selects.map(name => [name, 0])) })
    if (compared(kept.settings) !== compared(settings)) throw new BadFlag(`--resume goes on with the same flags; ${file} was taken with others`)
    return kept
  }

  /** @param {any} results */
  save (results) {
    if (!this.partial) return
    fs.writeFileSync(`${this.partial}.new`, text(results))
    fs.renameSync(`${this.partial}.new`, this.partial)
  }

  /** It is complete. */
  finish () {
    if (this.file && this.partial) fs.renameSync(this.partial, this.file)
  }
}

/** A line for each round of each subject. @param {any} results */
function text (results) {
  const rounded = (/** @type {string} */ _, /** @type {any} */ value) => typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
  return `${JSON.stringify(results, rounded, 1).replace(/\n {5,}/g, ' ').replace(/ (\n {4})([\]}])/g, '$1$2')}\n`
}

module.exports = { ResultsFile }
