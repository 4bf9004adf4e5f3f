'use strict'

/**
 * Draws each slot's connections over time, and a mark for each worker that died, from a journal of
 * `recycle drill --kill`:
 *
 *     node bench/kills.js run.ndjson > kills.svg
 */

const fs = require('node:fs')
const { answerHelp } = require('./support/help')
const { drawStrips } = require('./support/strips')
const { readReport } = require('../lib/tools/report')

answerHelp()
const files = process.argv.slice(2)
const lines = files.flatMap(file => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line)))
readReport(files).then(({ report }) => {
  const samples = lines.filter(({ event, connections, slot }) => event === 'worker.sample' && slot !== null && connections !== undefined)
  const slots = [...new Set(samples.map(({ slot }) => slot))].sort().map(slot => ({ slot }))
  process.stdout.write(drawStrips({
    report,
    shows: `connections of ${slots.length} workers, as they are killed,`,
    slots,
    height: 54,
    most: Math.max(...samples.map(({ connections }) => connections)) * 1.08,
    draw ({ slot }, { x, y, bottom, left, right }) {
      const deaths = lines.filter(({ event, slot: of }) => event === 'worker.crash' && of === slot).map(({ t }) => t)
      const points = [
        ...samples.filter(({ slot: of }) => of === slot), ...deaths.map(t => ({ t, connections: 0 }))
      ].sort((a, b) => a.t - b.t)
      const line = points.map(({ t, connections }, j) => `${j ? `H${x(t)}V` : `M${x(t)},`}${y(connections)}`).join('')
      return `<path class="base" d="M${left},${bottom}H${right}"/><path class="line" d="${line}"/>` +
        deaths.map(t => `<path class="mark" d="M${(Number(x(t)) - 4).toFixed(1)},${bottom - 62}l8,8m0,-8l-8,8"/>`).join('')
    },
    style: '.line { fill: none; stroke: #3268d6; stroke-width: 1.5 } .base { stroke: #6a6f78; stroke-opacity: .35 } .mark { fill: none; stroke: #c23b2e; stroke-width: 2 }',
    dark: '.line { stroke: #6ea1ff } .mark { stroke: #ff7a6b }'
  }))
})
