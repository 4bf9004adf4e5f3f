'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const APPS = ['hello world', 'garbage, 6,000 Buffers a request']

module.exports = {
  /** @param {import('.').Read} read */
  cost (read) {
    const files = read('pauses')
    return markdownTable([
      ['CPU µs per request', 'without', 'with', 'ratio'],
      ...APPS.map(group => {
        const [before, after] = ['without', 'with'].map(subject => figuresOf(files, { group, subject }))
        return [group, before.median('cpuUs', 1), after.median('cpuUs', 1), after.ratio('cpuUs')]
      })
    ])
  }
}
