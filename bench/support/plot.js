'use strict'

/**
 * A bench's plot, as SVG: a strip for each group, with a row for each subject, with a dot for each version of Node at
 * the median and a line from the least round to the most. Readable on light and on dark backgrounds.
 */

const { besideOf, latest, roundsOf } = require('./results')
const { summary, within } = require('./statistics')

const [WIDTH, LEFT, RIGHT, ROW, HEAD, TOP, BOTTOM] = [880, 220, 70, 9, 26, 62, 34]
const PAD = 9 // between rows
const TICKS = 6

/**
 * @typedef {object} Plot
 * @property {string} key of the figures
 * @property {string} title
 * @property {boolean} [ratio] to another subject, on a logarithmic axis; else the figures themselves
 * @property {string} [groups] a pattern of the groups' names; else all
 *
 * @typedef {{ node: string, median: number, min: number, max: number, count: number }} Point
 */

/**
 * @param {Plot} plot
 * @param {any[]} files results of one bench, by version of Node, ascending
 * @returns {string | null} null: there are no figures
 */
function drawPlot ({ key, title, ratio = false, groups: pattern = '' }, files) {
  const nodes = files.map(({ machine }) => machine.node.split('.')[0])
  const names = [...new Set(files.flatMap(({ groups }) => groups.map((/** @type {any} */ { name }) => name)))].filter(
    name => new RegExp(pattern).test(name)
  )
  const strips = names.map(name => ({ name, rows: rowsOf(name, key, ratio, files, nodes) }))
    .filter(({ rows }) => rows.length)
  const points = strips.flatMap(({ rows }) => rows.flatMap(row => row.points))
  if (points.length === 0) return null
  const scale = (ratio ? logScale : linearScale)(points)
  const x = (/** @type {number} */ value) => (LEFT + scale.at(value) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  let y = TOP
  const drawn = strips.map(({ name, rows }) => {
    const head = `<text class="group" x="14" y="${y + 14}">${escape(name)}</text>`
    y += HEAD
    return head + rows.map(({ subject, points }) => {
      const top = y
      y += ROW * Math.max(points.length, 1.4) + PAD
      const middle = (top + y - PAD) / 2
      const marks = points.map((point, i) => {
        const at = points.length === 1 ? middle : top + ROW * (i + 0.5)
        const said = `${subject}, Node ${point.node}: ${format(point.median)}${ratio ? '×' : ''} (${format(point.min)}–${format(point.max)})`
        return `<g class="n${nodes.indexOf(point.node)}"><title>${escape(said)}</title><path d="M${x(point.min)},${at.toFixed(1)}H${x(point.max)}"/><circle cx="${x(point.median)}" cy="${at.toFixed(1)}" r="3.5"/></g>`
      }).join('')
      const value = points.length === 1 ? `<text class="value" x="${WIDTH - RIGHT + 10}" y="${middle + 4}">${format(points[0].median)}${ratio ? '×' : ''}</text>` : ''
      return `<text x="${LEFT - 12}" y="${(middle + 4).toFixed(1)}" text-anchor="end">${escape(subject)}</text>${marks}${value}`
    }).join('\n')
  })
  const height = y + BOTTOM
  const grid = scale.ticks.map(tick => `<path class="${ratio && tick === 1 ? 'one' : 'grid'}" d="M${x(tick)},${TOP - 8}V${y}"/><text class="tick" x="${x(tick)}" y="${y + 16}">${format(tick)}${ratio ? '×' : ''}</text>`)
  const shown = nodes.filter(node => points.some(point => point.node === node))
  const legend = shown.map((node, i) => `<g class="n${nodes.indexOf(node)}"><circle cx="${18 + i * 90}" cy="40" r="3.5"/></g><text x="${27 + i * 90}" y="44">Node ${node.slice(1)}</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${Math.ceil(height)}" width="${WIDTH}" height="${Math.ceil(height)}" role="img" aria-label="${escape(title)}">
<style>
text { font: 12px system-ui, sans-serif; fill: #4d535c } .title { font: 600 14px system-ui, sans-serif; fill: #17191c } .group { font-weight: 600; fill: #17191c } .tick { text-anchor: middle; font-size: 11px }
.grid { stroke: #8a919c; stroke-opacity: .25 } .one { stroke: #8a919c; stroke-dasharray: 4 4 } g path { stroke-width: 2; stroke-opacity: .5 }
${palette(['#3268d6', '#b0561b', '#2a8a57', '#8a45b8'])}
@media (prefers-color-scheme: dark) { text { fill: #a3a9b3 } .title, .group { fill: #eceef1 } ${palette(['#6ea1ff', '#f0975a', '#5cc98f', '#c58af0'])} }
</style>
<text class="title" x="14" y="22">${escape(title)}</text>
${legend.join('')}
${grid.join('')}
${drawn.join('\n')}
</svg>
`
}

/** @param {string} name @param {string} key @param {boolean} ratio @param {any[]} files @param {string[]} nodes */
function rowsOf (name, key, ratio, files, nodes) {
  const found = files.map(({ groups }) => latest(groups, name))
  const subjects =
    [...new Set(found.flatMap(group => group?.subjects.map((/** @type {any} */ { name }) => name) ?? []))]
  return subjects.map(subject => ({
    subject,
    points: found.flatMap((group, i) => {
      if (!group) return []
      const rounds = roundsOf(group.subjects, subject)
      const other = besideOf(group, files[i].columns)
      if (ratio && (other === null || other === subject)) return []
      const figures = ratio
        ? within(rounds, roundsOf(group.subjects, other), key)
        : summary(rounds.map(figures => figures?.[key] ?? NaN))
      return Number.isFinite(figures.median) ? [({ node: nodes[i], ...figures })] : []
    })
  })).filter(({ points }) => points.length)
}

/** @param {Point[]} points */
function linearScale (points) {
  const most = Math.max(...points.map(({ max }) => max)) || 1
  const step = [1, 2, 2.5, 5, 10].map(factor => factor * 10 ** Math.floor(Math.log10(most / TICKS)))
    .find(step => most / step <= TICKS) ?? most
  const end = Math.ceil(most / step) * step
  return {
    at: (/** @type {number} */ value) => value / end,
    ticks: Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step)
  }
}

/** It includes 1. @param {Point[]} points */
function logScale (points) {
  const values = points.flatMap(({ min, max }) => [min, max]).filter(value => value > 0)
  const [least, most] = [Math.min(...values, 0.9), Math.max(...values, 1.1)]
  const all = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
    10_000
  ]
  const from = all.findLast(tick => tick <= least) ?? least
  const to = all.find(tick => tick >= most) ?? most
  const at = (/** @type {number} */ value) => Math.log(Math.max(value, from) / from) / Math.log(to / from)
  /** @type {number[]} */
  const ticks = []
  for (const tick of [1, ...all]) { // always 1, and the others as far as there is room
    if (tick >= from && tick <= to && ticks.every(other => Math.abs(at(other) - at(tick)) > 0.07)) ticks.push(tick)
  }
  return { at, ticks }
}

/** @param {string[]} colours */
function palette (colours) {
  return colours.map((colour, i) => `.n${i} circle { fill: ${colour} } .n${i} path { stroke: ${colour} }`).join(' ')
}

/** Three digits. @param {number} value */
function format (value) {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 })
}

/** @param {string} text */
function escape (text) {
  return text.replace(/[&<>"]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign)
}

module.exports = { drawPlot }
