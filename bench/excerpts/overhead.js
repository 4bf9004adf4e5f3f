'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const [IDLE, RECYCLING, KILLED] = ['recycle, idle', 'recycle, 1 a second', 'cluster, 1 killed a second']

/** Both kinds of connection, each with its groups: at saturation, at a fixed rate, all subjects at the same time. */
const KINDS = ['keep-alive', 'a connection per request'].map(name => ({
  saturation: name,
  rate: new RegExp(`^${name}, [\\d,]+ requests/s$`),
  together: `${name}, all at the same time`,
  alone: `${name}, all at the same time, 1 worker each`
}))

module.exports = {
  /** @param {import('.').Read} read */
  cost (read) {
    const files = read('overhead')
    /** @typedef {(figures: import('../support/figures').Figures) => string} Cell */
    /** @type {(title: string, load: keyof KINDS[0], subject: string, cell: Cell) => string[]} */
    const row = (title, load, subject, cell) =>
      [title, ...KINDS.map(kind => cell(figuresOf(files, { group: kind[load], subject })))]
    return markdownTable([
      ['beside bare cluster', 'keep-alive', 'a connection per request'],
      row('throughput at saturation, nothing recycled', 'saturation', IDLE, figures => figures.ratio('rps')),
      row('p99 at a fixed rate, nothing recycled', 'rate', IDLE, figures => figures.ratio('p99')),
      row('CPU per request at a fixed rate, nothing recycled', 'together', IDLE, figures => figures.ratio('cpuUs')),
      row('the same with one worker', 'alone', IDLE, figures => figures.ratio('cpuUs')),
      row('primary, MiB more', 'saturation', IDLE, figures => figures.more('primaryMiB')),
      row('throughput, a worker recycled every second', 'saturation', RECYCLING, figures => figures.ratio('rps')),
      row('… requests dropped', 'saturation', RECYCLING, figures => figures.total('dropped')),
      row('throughput, bare cluster with a worker killed and forked every second', 'saturation', KILLED, figures => figures.ratio('rps')),
      row('… requests dropped', 'saturation', KILLED, figures => figures.total('dropped'))
    ])
  }
}
