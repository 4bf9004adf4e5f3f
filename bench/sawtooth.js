'use strict'

/**
 * Draws each slot's memory over time, its budget, and a mark for each recycle, from a journal:
 *
 *     node bench/sawtooth.js run.ndjson > sawtooth.svg
 */

const { answerHelp } = require('./support/help')
const { drawStrips } = require('./support/strips')
const { readReport } = require('../lib/tools/report')

answerHelp()
readReport(process.argv.slice(2)).then(({ report, series }) => {
  const slots = series.memory
  process.stdout.write(drawStrips({
    report,
    shows: `memory of ${slots.length} workers`,
    slots,
    height: 74,
    most: Math.max(
      ...slots.flatMap(({ points }) => points.flatMap(({ bytes, budget }) => [bytes, budget ?? 0]))
    ) * 1.08,
    draw ({ slot, points }, { x, y, bottom }) {
      const line = points.map(({ t, bytes }) => `${x(t)},${y(bytes)}`).join(' ')
      const budget = points.map(({ t, budget }, j) => `${j ? `H${x(t)}V` : `M${x(t)},`}${y(budget ?? 0)}`).join('')
      const recycles = report.recycleEvents.filter(event => event.slot === slot && event.kind === 'recycle')
      const marks = recycles.map(({ drainAt }) => `<path class="mark" d="M${x(drainAt)},${bottom - 80}l4,4l-4,4l-4,-4z"/>`).join('')
      return `<polygon class="fill" points="${x(points[0].t)},${bottom} ${line} ${x(points[points.length - 1].t)},${bottom}"/><polyline class="rss" points="${line}"/>` +
        `<path class="budget" d="${budget}"/>${marks}`
    },
    style: '.rss { fill: none; stroke: #3268d6; stroke-width: 1.5; stroke-linejoin: round } .fill { fill: #3268d6; fill-opacity: .14 } .budget { fill: none; stroke: #b07410; stroke-dasharray: 4 4 } .mark { fill: #3268d6 }',
    dark: '.rss { stroke: #6ea1ff } .fill, .mark { fill: #6ea1ff } .budget { stroke: #d9a13f }'
  }))
})
