'use strict'

/** A picture for the README: a strip for each slot, over time, in light and dark. */

const [WIDTH, LEFT, RIGHT, GAP, TOP, BOTTOM] = [860, 76, 14, 20, 46, 30]
const TICK_SECONDS = 5

/**
 * @template {{ slot: number }} T
 * @param {object} what
 * @param {any} what.report of the journal
 * @param {string} what.shows such as "memory of 4 workers"
 * @param {T[]} what.slots
 * @param {number} what.height of a strip, in pixels
 * @param {number} what.most the value at its top
 * @param {(slot: T, scales: { x: (t: number) => string, y: (value: number) => string, bottom: number, left: number,
 *   right: number }) => string} what.draw
 * @param {string} what.style
 * @param {string} what.dark
 * @returns {string} SVG
 */
function drawStrips ({ report, shows, slots, height, most, draw, style, dark }) {
  const { from, to } = /** @type {{ from: number, to: number }} */ (report)
  const whole = TOP + slots.length * (height + GAP) + BOTTOM
  const seconds = Math.floor((to - from) / 1000)
  const x = (/** @type {number} */ t) => (LEFT + (t - from) / (to - from) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const strips = slots.map((slot, i) => {
    const bottom = TOP + i * (height + GAP) + height
    const y = (/** @type {number} */ value) => (bottom - value / most * height).toFixed(1)
    return `<text class="name" x="14" y="${bottom - height / 2 + 4}">slot ${slot.slot}</text>${draw(slot, { x, y, bottom, left: LEFT, right: WIDTH - RIGHT })}`
  })
  const ticks = Array.from({ length: Math.floor(seconds / TICK_SECONDS) + 1 }, (_, i) => i * TICK_SECONDS)
    .map(s => `<text class="tick" x="${x(from + s * 1000)}" y="${whole - 14}">${s} s</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${whole}" width="${WIDTH}" height="${whole}" role="img" aria-label="${report.verdict.text}: ${shows} over ${seconds} seconds">
<style>
text { font: 12px system-ui, sans-serif; fill: #6a6f78 } .name { font-weight: 600 } .title { font: 600 14px system-ui, sans-serif; fill: #17191c } .tick { text-anchor: middle; font-size: 11px }
${style}
@media (prefers-color-scheme: dark) { text { fill: #969ca6 } .title { fill: #eceef1 } ${dark} }
</style>
<text class="title" x="14" y="22">${report.verdict.text}</text>
${strips.join('\n')}
${ticks.join('')}
</svg>
`
}

module.exports = { drawStrips }
