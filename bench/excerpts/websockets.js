'use strict'

const { figuresOf } = require('../support/figures')
const { decimal } = require('../support/results')
const { markdownTable } = require('../support/table')

const PEERS = { recycle: '**recycle**', pm2: '`pm2 reload`' }

module.exports = {
  /** @param {import('.').Read} read */
  reload (read) {
    const results = read('websockets')
    const group = results.at(-1)?.groups[0].name ?? ''
    return markdownTable([
      ['', 'closed', 'messages lost', 'of', 'pushes lost', 'of', 'doubled or out of order', 'longest answer', 'CPU for it'],
      ...Object.entries(PEERS).map(([subject, title]) => {
        const figures = figuresOf(results, { group, subject })
        return [title, figures.total('closed'), figures.total('lost'), figures.total('messages'), figures.total('pushesLost'), figures.total('pushes'), decimal(figures.sum('wrong') + figures.sum('pushesWrong')), `${figures.median('longestMs')} ms`, `${figures.median('cpuS', 1)} s`]
      })
    ])
  }
}
