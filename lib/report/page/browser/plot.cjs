'use strict'

/* global uPlot, ResizeObserver, requestAnimationFrame */

const { h } = require('./element.cjs')
const { color, onChange } = require('./theme.cjs')
const { NONE, since, isShort, hour } = require('./format.cjs')

const BYTE_STEPS = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map(n => n * 1024 ** 2 * 10 ** i)).flat()

/**
 * Plots that share one axis of time: one cursor, one zoom. Each is a strip with its name and, while the pointer is
 * anywhere on any of them, its values there.
 */
class Plots {
  #plots = []
  #isZooming = false

  /** @param {{ from: number, to: number }} range ms since the epoch */
  constructor ({ from, to }) {
    this.range = { from, to: Math.max(to, from + 1) }
    this.sync = uPlot.sync('time')
    onChange(width => this.#plots.forEach(plot => plot.draw(width)))
  }

  /**
   * @param {object} what
   * @param {string} what.title
   * @param {number} what.height px
   * @param {boolean} what.isLast it bears the axis of time
   * @param {number[][]} what.data x in s, then a row for each line
   * @param {{ label: string, color: string, format: (value: number) => string, fill?: boolean, dash?: number[], points?: boolean, stepped?: boolean }[]} what.lines
   * @param {(value: number) => string} what.format the axis
   * @param {[number, number] | undefined} what.y its range; undefined: from 0
   * @param {boolean} [what.isLog]
   * @param {boolean} [what.isBytes] its axis counts in MiB
   * @param {any} what.marks
   */
  add (what) {
    const values = what.lines.map(() => h('b'))
    const head = h('header', {}, [h('h3', {}, [what.title]), ...what.lines.map((line, i) =>
      h(`span.key.${line.color}`, {}, [`${line.label} `, values[i]]))])
    const moment = h('span.moment', {}, [''])
    head.append(moment)
    const body = h('div.plot')
    const figure = h('section.strip', { 'aria-label': what.title }, [head, body])
    const plot = { u: null, draw: width => this.#draw(plot, what, body, width, { values, moment }) }
    this.#plots.push(plot)
    let known = 0
    new ResizeObserver(() => {
      if (body.clientWidth === known || body.clientWidth === 0) return
      known = body.clientWidth
      requestAnimationFrame(() => plot.draw(null))
    }).observe(body)
    return figure
  }

  #draw (plot, what, body, width, readout) {
    if (body.clientWidth === 0) return
    const zoomed = plot.u ? { min: plot.u.scales.x.min, max: plot.u.scales.x.max } : null
    plot.u?.destroy()
    plot.u = new uPlot(this.#options(what, width ?? body.clientWidth, zoomed, readout), what.data, body) // eslint-disable-line new-cap
  }

  #options (what, width, zoomed, { values, moment }) {
    const { from, to } = this.range
    const isNarrow = width < 520
    const axis = { stroke: color('muted'), font: '11px system-ui, sans-serif', grid: { stroke: color('grid'), width: 1 }, ticks: { show: false } }
    return {
      width,
      height: what.height + (what.isLast ? 26 : 0),
      padding: [8, 10, what.isLast ? 0 : 8, 0],
      legend: { show: false },
      plugins: [what.marks],
      cursor: {
        sync: { key: this.sync.key, scales: ['x', null] },
        drag: { x: true, y: false, uni: 20 },
        y: false,
        points: { size: 7 }
      },
      scales: {
        x: { time: true, range: (u, min, max) => min === null ? [from / 1000, to / 1000] : [min, max], ...zoomed },
        y: what.isLog ? { distr: 3, log: 10 } : { range: what.y ?? ((u, min, max) => [0, (max || 1) * 1.08]) }
      },
      axes: [
        {
          ...axis,
          show: what.isLast,
          size: 26,
          space: isNarrow ? 64 : 90,
          grid: { show: false },
          values: (u, splits) => splits.map(s => hour(s * 1000)),
          ...isShort(from, to) && {
            values: (u, splits) => splits.map(s => `${Math.round(s * 1000 - from) / 1000} s`),
            splits: (u, i, min, max, step) => ticks(min, max, step, from / 1000)
          }
        },
        {
          ...axis,
          size: isNarrow ? 50 : 64,
          space: 26,
          gap: 6,
          ...what.isBytes && { incrs: BYTE_STEPS },
          grid: { ...axis.grid, ...what.isLog && { filter: (u, splits) => splits.map(decade) } },
          values: (u, splits) => splits.map(s => s === null ? null : what.format(s))
        }
      ],
      series: [{}, ...what.lines.map(line => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.5,
        ...line.dash && { dash: line.dash },
        ...line.fill && { fill: u => fade(u, color(line.color)) },
        ...line.stepped && { paths: uPlot.paths.stepped({ align: -1 }) },
        points: { show: false },
        spanGaps: false
      }))],
      hooks: {
        setCursor: [u => {
          const { idx, left } = u.cursor
          const isOn = left >= 0 && idx !== null && idx !== undefined
          values.forEach((value, i) => {
            const y = isOn ? u.data[i + 1][idx] : null
            value.textContent = !isOn ? '' : y === null || y === undefined ? NONE : what.lines[i].format(y)
          })
          moment.textContent = isOn ? since(u.data[0][idx] * 1000, from, to) : ''
        }],
        setScale: [(u, key) => {
          if (key !== 'x' || this.#isZooming) return
          this.#isZooming = true
          for (const other of this.#plots) {
            if (other.u && other.u !== u) other.u.setScale('x', { min: u.scales.x.min, max: u.scales.x.max })
          }
          this.#isZooming = false
        }]
      }
    }
  }
}

/** Grid lines at powers of ten alone. */
function decade (value) {
  return Number.isInteger(Math.log10(value)) ? value : null
}

/** Round numbers of seconds since the start, which is not a round time of day. */
function ticks (min, max, step, from) {
  const splits = []
  for (let i = Math.ceil((min - from) / step - 1e-6); from + i * step <= max + 1e-6; i++) splits.push(from + i * step)
  return splits
}

/** @param {string} stroke as #rrggbb */
function fade (u, stroke) {
  const { ctx, bbox } = u
  const gradient = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height)
  gradient.addColorStop(0, `${stroke}4d`)
  gradient.addColorStop(1, `${stroke}0a`)
  return gradient
}

module.exports = { Plots }
