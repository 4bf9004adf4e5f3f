'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const FLEETS = ['5 workers of 50 MB', '100 workers of 50 MB', '5 workers of 1024 MB']
const WORKER = 'a worker of 1024 MB that takes fresh memory, read without a pause'
const READERS = ['statm, as the guard', 'smaps_rollup, as the product', 'smaps_rollup, blocking', 'smaps, blocking', 'pidusage', 'awk over smaps, blocking']

module.exports = {
  /** @param {import('.').Read} read */
  readers (read) {
    const files = read('meter')
    return markdownTable([
      ['µs per worker', ...FLEETS, 'event loop held, 5 × 1024 MB, ms', '16 page faults of a worker of 1024 MB meanwhile, µs'],
      ...READERS.map(subject => {
        const of = (/** @type {string} */ group) => figuresOf(files, { group, subject })
        return [subject, ...FLEETS.map(fleet => of(fleet).median('us', 1)), of(FLEETS[2]).median('holdMs', 2), of(WORKER).median('faultP50', 1)]
      })
    ])
  }
}
