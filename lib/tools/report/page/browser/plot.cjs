'use strict'

/* global uPlot, ResizeObserver, requestAnimationFrame, matchMedia */

const { h } = require('./element.cjs')
const { marks } = require('./marks.cjs')
const { color, onChange } = require('./theme.cjs')
const { NONE, since, isShort, hour, clockOf } = require('./format.cjs')

const BYTE_STEPS = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map(n => n * 1024 ** 2 * 10 ** i)).flat()

/**
 * Plots that share a time axis, a cursor and a zoom. Each plot shows its values at the cursor; without a cursor, live
 * plots show their latest values.
 */
class Plots {
  /** By figure. */
  #plots = new Map()
  #isZooming = false

  /** @param {{ from: number, to: number, isLive?: boolean }} range ms since the epoch */
  constructor ({ from, to, isLive = false }) {
    this.range = { from, to: Math.max(to, from + 1) }
    this.isLive = isLive
    this.sync = uPlot.sync('time')
    onChange(width => this.#plots.forEach(plot => this.#draw(plot, width)))
  }

  /**
   * @param {object} what @param {string} what.title @param {number} what.height px
   * @param {boolean} what.isLast it shows the time axis @param {number[][]} what.data x in s, then a row for each line
   * @param {{ label: string, color: string, format: (value: number) => string, fill?: boolean, dash?: number[],
   *   points?: boolean, stepped?: boolean }[]} what.lines
   * @param {(value: number) => string} what.format the axis
   * @param {[number, number] | undefined} what.y its range; undefined: from 0 @param {boolean} [what.isLog]
   * @param {boolean} [what.isBytes] its axis counts in MiB
   * @param {{ spans: { from: number, to: number }[], moments: import('./moment.cjs').Moment[] }} what.marks
   */
  add (what) {
    const values = what.lines.map(() => h('b'))
    const head = h('header', {}, [h('h3', {}, [what.title]), ...what.lines.map((line, i) =>
      h(`span.key.${line.color}`, {}, [`${line.label} `, values[i]]))])
    const moment = h('span.moment', {}, [''])
    head.append(moment)
    const body = h('div.plot')
    const figure = h('section.strip', { 'aria-label': what.title }, [head, body])
    const plot = { u: null, what, body, values, moment }
    this.#plots.set(figure, plot)
    let known = 0
    new ResizeObserver(() => {
      if (body.clientWidth === known || body.clientWidth === 0) return
      known = body.clientWidth
      requestAnimationFrame(() => this.#draw(plot, null))
    }).observe(body)
    return figure
  }

  /**
   * Shows new data and a new range. The range does not change while the plots are zoomed, or while the pointer is on
   * one.
   * @param {{ from: number, to: number }} range
   * @param {Map<HTMLElement, any>} whats by figure; with as many lines as before
   */
  follow (range, whats) {
    const before = this.range
    if (!this.#isPointedAt()) this.range = range
    const { from, to } = this.range
    this.#isZooming = true
    for (const [figure, what] of whats) {
      const plot = this.#plots.get(figure)
      plot.what = what
      if (!plot.u) continue
      const { min, max } = plot.u.scales.x
      const isZoomed = min !== before.from / 1000 || max !== before.to / 1000
      plot.u.setData(what.data, false)
      plot.u.setScale('x', isZoomed ? { min, max } : { min: from / 1000, max: to / 1000 })
      this.#readOut(plot)
    }
    this.#isZooming = false
  }

  /** Only with a mouse: on touch screens :hover persists after the touch. */
  #isPointedAt () {
    return matchMedia('(hover: hover)').matches && [...this.#plots.values()].some(({ body }) => body.matches(':hover'))
  }

  /** Removes every other plot. @param {Set<HTMLElement>} figures */
  keep (figures) {
    for (const [figure, { u }] of this.#plots) {
      if (figures.has(figure)) continue
      u?.destroy()
      this.#plots.delete(figure)
    }
  }

  #draw (plot, width) {
    const { what, body } = plot
    if (body.clientWidth === 0) return
    const { u } = plot.u ? plot : [...this.#plots.values()].find(({ u }) => u) ?? plot
    const zoomed = u && { min: u.scales.x.min, max: u.scales.x.max }
    plot.u?.destroy()
    const options = this.#options(plot, width ?? body.clientWidth, zoomed)
    plot.u = new uPlot(options, what.data, body) // eslint-disable-line new-cap
    this.#readOut(plot)
  }

  #readOut ({ u, what, values, moment }) {
    const { idx, left } = u.cursor
    const isOn = left >= 0 && idx !== null && idx !== undefined
    const at = isOn ? idx : this.isLive ? u.data[0].length - 1 : -1
    values.forEach((value, i) => {
      const y = u.data[i + 1][at]
      value.textContent = at < 0 ? '' : y === null || y === undefined ? NONE : what.lines[i].format(y)
    })
    moment.textContent = isOn ? this.#when(u.data[0][idx] * 1000) : ''
  }

  #when (t) {
    const { from, to } = this.range
    return this.isLive ? clockOf(this.range)(t) : since(t, from, to)
  }

  #options (plot, width, zoomed) {
    const { what } = plot
    const { from, to } = this.range
    const isNarrow = width < 520
    const axis = {
      stroke: color('muted'), font: '11px system-ui, sans-serif', grid: { stroke: color('grid'), width: 1 },
      ticks: { show: false }
    }
    return {
      width,
      height: what.height + (what.isLast ? 26 : 0),
      padding: [8, 10, what.isLast ? 0 : 8, 0],
      legend: { show: false },
      plugins: [marks(() => plot.what.marks)],
      cursor: {
        sync: { key: this.sync.key, scales: ['x', null] },
        drag: { x: true, y: false, uni: 20 },
        y: false,
        points: { size: 7 }
      },
      scales: {
        x: {
          time: true,
          range: (u, min, max) => isAll(u, min, max) ? [this.range.from / 1000, this.range.to / 1000] : [min, max],
          ...zoomed
        },
        y: what.isLog ? { distr: 3, log: 10 } : { range: (u, min, max) => plot.what.y ?? [0, (max || 1) * 1.08] }
      },
      axes: [
        {
          ...axis,
          show: what.isLast,
          size: 26,
          space: isNarrow ? 64 : 90,
          grid: { show: false },
          values: (u, splits) => splits.map(s => hour(s * 1000)),
          ...isShort(from, to) && !this.isLive && {
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
        setCursor: [() => { if (plot.u) this.#readOut(plot) }],
        setScale: [(u, key) => {
          if (key !== 'x' || this.#isZooming) return
          this.#isZooming = true
          for (const other of this.#plots.values()) {
            if (other.u && other.u !== u) other.u.setScale('x', { min: u.scales.x.min, max: u.scales.x.max })
          }
          this.#isZooming = false
        }]
      }
    }
  }
}

/** Whether the plot is not zoomed: min and max are the ends of the data, or there is no data. */
function isAll (u, min, max) {
  const first = u.data[0][0]
  const last = u.data[0].at(-1)
  return min === null || (min === first && (max === last || first === last))
}

/** Grid lines only at powers of ten. */
const decade = value => Number.isInteger(Math.log10(value)) ? value : null

/** Ticks at round numbers of seconds since the start. */
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
