'use strict'

// `node bench/sawtooth.js run.ndjson > sawtooth.svg`: each slot's memory over time, its budget, and a mark for each recycle.
const { readReport } = require('../lib/report')

const [WIDTH, LEFT, STRIP, GAP, TOP, BOTTOM] = [860, 76, 74, 20, 46, 30]

readReport(process.argv.slice(2)).then(({ report, series }) => {
  const { from, to } = /** @type {{ from: number, to: number }} */ (report)
  const slots = series.memory
  const most = Math.max(...slots.flatMap(({ points }) => points.flatMap(({ bytes, budget }) => [bytes, budget ?? 0]))) * 1.08
  const height = TOP + slots.length * (STRIP + GAP) + BOTTOM
  const x = (/** @type {number} */ t) => (LEFT + (t - from) / (to - from) * (WIDTH - LEFT - 14)).toFixed(1)
  const strips = slots.map(({ slot, points }, i) => {
    const bottom = TOP + i * (STRIP + GAP) + STRIP
    const y = (/** @type {number} */ bytes) => (bottom - bytes / most * STRIP).toFixed(1)
    const line = points.map(({ t, bytes }) => `${x(t)},${y(bytes)}`).join(' ')
    const budget = points.map(({ t, budget }, j) => `${j ? `H${x(t)}V` : `M${x(t)},`}${y(budget ?? 0)}`).join('')
    const marks = report.recycleEvents.filter(event => event.slot === slot && event.kind === 'recycle').map(({ drainAt }) => `<path class="mark" d="M${x(drainAt)},${bottom - STRIP - 6}l4,4l-4,4l-4,-4z"/>`).join('')
    return `<text class="name" x="14" y="${bottom - STRIP / 2 + 4}">slot ${slot}</text>` +
      `<polygon class="fill" points="${x(points[0].t)},${bottom} ${line} ${x(points[points.length - 1].t)},${bottom}"/><polyline class="rss" points="${line}"/>` +
      `<path class="budget" d="${budget}"/>${marks}`
  })
  const seconds = Math.floor((to - from) / 1000)
  const ticks = []
  for (let s = 0; s <= seconds; s += 5) ticks.push(`<text class="tick" x="${x(from + s * 1000)}" y="${height - 14}">${s} s</text>`)
  process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${report.verdict.text}: memory of ${slots.length} workers over ${seconds} seconds">
<style>
text { font: 12px system-ui, sans-serif; fill: #6a6f78 } .name { font-weight: 600 } .title { font: 600 14px system-ui, sans-serif; fill: #17191c } .tick { text-anchor: middle; font-size: 11px }
.rss { fill: none; stroke: #3268d6; stroke-width: 1.5; stroke-linejoin: round } .fill { fill: #3268d6; fill-opacity: .14 } .budget { fill: none; stroke: #b07410; stroke-dasharray: 4 4 } .mark { fill: #3268d6 }
@media (prefers-color-scheme: dark) { text { fill: #969ca6 } .title { fill: #eceef1 } .rss { stroke: #6ea1ff } .fill, .mark { fill: #6ea1ff } .budget { stroke: #d9a13f } }
</style>
<text class="title" x="14" y="22">${report.verdict.text}</text>
${strips.join('\n')}
${ticks.join('')}
</svg>
`)
})
