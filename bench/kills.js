'use strict'

// `node bench/kills.js run.ndjson > kills.svg`: each slot's connections over time, and a mark for each worker that died; of a journal of `recycle drill --kill`.
const fs = require('node:fs')
const { readReport } = require('../lib/report')

const [WIDTH, LEFT, STRIP, GAP, TOP, BOTTOM] = [860, 76, 54, 20, 46, 30]

const files = process.argv.slice(2)
const lines = files.flatMap(file => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line)))
readReport(files).then(({ report }) => {
  const { from, to } = /** @type {{ from: number, to: number }} */ (report)
  const samples = lines.filter(({ event, connections, slot }) => event === 'worker.sample' && slot !== null && connections !== undefined)
  const slots = [...new Set(samples.map(({ slot }) => slot))].sort()
  const most = Math.max(...samples.map(({ connections }) => connections)) * 1.08
  const height = TOP + slots.length * (STRIP + GAP) + BOTTOM
  const x = (/** @type {number} */ t) => (LEFT + (t - from) / (to - from) * (WIDTH - LEFT - 14)).toFixed(1)
  const strips = slots.map((slot, i) => {
    const bottom = TOP + i * (STRIP + GAP) + STRIP
    const y = (/** @type {number} */ connections) => (bottom - connections / most * STRIP).toFixed(1)
    const deaths = lines.filter(({ event, slot: of }) => event === 'worker.crash' && of === slot).map(({ t }) => t)
    const points = [...samples.filter(({ slot: of }) => of === slot), ...deaths.map(t => ({ t, connections: 0 }))].sort((a, b) => a.t - b.t)
    const line = points.map(({ t, connections }, j) => `${j ? `H${x(t)}V` : `M${x(t)},`}${y(connections)}`).join('')
    return `<text class="name" x="14" y="${bottom - STRIP / 2 + 4}">slot ${slot}</text><path class="base" d="M${LEFT},${bottom}H${WIDTH - 14}"/><path class="line" d="${line}"/>` +
      deaths.map(t => `<path class="mark" d="M${(Number(x(t)) - 4).toFixed(1)},${bottom - STRIP - 8}l8,8m0,-8l-8,8"/>`).join('')
  })
  const seconds = Math.floor((to - from) / 1000)
  const ticks = []
  for (let s = 0; s <= seconds; s += 5) ticks.push(`<text class="tick" x="${x(from + s * 1000)}" y="${height - 14}">${s} s</text>`)
  process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${report.verdict.text}: connections of ${slots.length} workers over ${seconds} seconds, as they are killed">
<style>
text { font: 12px system-ui, sans-serif; fill: #6a6f78 } .name { font-weight: 600 } .title { font: 600 14px system-ui, sans-serif; fill: #17191c } .tick { text-anchor: middle; font-size: 11px }
.line { fill: none; stroke: #3268d6; stroke-width: 1.5 } .base { stroke: #6a6f78; stroke-opacity: .35 } .mark { fill: none; stroke: #c23b2e; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #969ca6 } .title { fill: #eceef1 } .line { stroke: #6ea1ff } .mark { stroke: #ff7a6b } }
</style>
<text class="title" x="14" y="22">${report.verdict.text}</text>
${strips.join('\n')}
${ticks.join('')}
</svg>
`)
})
