'use strict'

const { h } = require('../../../tools/report/page/browser/element.cjs')
const {
  MOST_SLOTS_AT_ONCE, legend, throughput, latency, workers, busy, budgetHint, strips, moreSlots
} = require('../../../tools/report/page/browser/charts.cjs')
const { Plots } = require('../../../tools/report/page/browser/plot.cjs')
const { time, whole, plural } = require('../../../tools/report/page/browser/format.cjs')

/** The report's charts, updated live. */
class LiveCharts {
  element = h('section.charts')
  #plots = new Plots({ from: 0, to: 1, isLive: true })
  /**
   * The figures, by the shape of what they show: where a slot is added, the other plots stay, and the pointer on one of
   * them.
   */
  #drawn = new Map()
  #shape = ''
  #sizing = h('p.hint')
  #panels = { traffic: h('div.panel'), load: h('div.panel'), memory: h('div.panel') }

  /** @param {import('./state.cjs').State} state */
  show ({ t, report, series, range, size, autoscale }) {
    const traffic = trafficOf(report, series.client)
    const load = autoscale === null ? busy(series.client, size.wanted) : workers(series.client, autoscale)
    const slots = strips(report, series.memory)
    this.#sizing.textContent = sizing(size, autoscale, t)
    const whats = [...traffic, load, ...slots]
    const shape = JSON.stringify(whats.map(shapeOf))
    if (shape !== this.#shape) this.#build(report, series, range, traffic, load, slots)
    this.#shape = shape
    const drawn = whats.filter(what => this.#drawn.has(shapeOf(what))) // of very many slots some alone are
    this.#plots.follow(range, new Map(drawn.map(what => [this.#drawn.get(shapeOf(what)), what])))
  }

  #build (report, series, range, traffic, load, slots) {
    if (this.#drawn.size === 0) this.#plots.range = range
    const before = this.#drawn
    this.#drawn = new Map()
    const draw = what => {
      const shape = shapeOf(what)
      const figure = before.get(shape) ?? this.#plots.add(what)
      this.#drawn.set(shape, figure)
      return figure
    }
    const rest = slots.slice(MOST_SLOTS_AT_ONCE)
    const panels = this.#panels
    arrange(panels.traffic, traffic.map(draw))
    arrange(panels.load, [draw(load)])
    arrange(panels.memory, [
      ...slots.slice(0, MOST_SLOTS_AT_ONCE).map(draw),
      ...rest.length > 0 ? [moreSlots(rest.length, () => rest.map(draw))] : []
    ])
    arrange(this.element, [
      h('h2', {}, ['Traffic']), legend({ ...report, crashEvents: [null] }), panels.traffic,
      h('h2', {}, [load.title === 'Load' ? 'Load' : 'Workers and load']), this.#sizing, panels.load,
      h('h2', {}, ['Memory by slot']), ...[budgetHint(series.memory)].filter(hint => hint !== null), panels.memory
    ])
    this.#plots.keep(new Set(this.#drawn.values()))
  }
}

/** Like replaceChildren, but a child that stays is not taken out: the pointer remains on it. */
function arrange (parent, children) {
  for (const child of [...parent.children]) if (!children.includes(child)) child.remove()
  children.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null)
  })
}

const shapeOf = ({ title, lines, isLast }) => JSON.stringify([title, lines.length, isLast === true])

/**
 * By what the number of workers is decided, and why there are as many.
 * @param {import('../picture').Size} size @param {{ min: number, max: number, isPinned: boolean } | null} autoscale
 * @param {number} now
 */
function sizing ({ wanted, change }, autoscale, now) {
  const by = autoscale === null
    ? `${plural(wanted, 'worker')}, a fixed number`
    : autoscale.isPinned
      ? `Pinned at ${plural(wanted, 'worker')}; by the load it would be ${autoscale.min} to ${autoscale.max}`
      : `Auto: ${autoscale.min} to ${autoscale.max} workers by the load`
  return change === null
    ? `${by}.`
    : `${by}. Last change ${time(1000 * Math.max(1, Math.round((now - change.t) / 1000)))} ago: ${change.from} → ` +
      `${change.to}, reason ${change.reason}.`
}

function trafficOf (report, moments) {
  const has = name => moments.some(moment => moment[name] !== null)
  const line = (name, title, line) => has(name) ? [figure(report, moments, name, title, line)] : []
  const figures = [
    ...line('errorsPerSecond', 'Responses with 5xx', { label: '5xx/s', color: 'drop', format: rate }),
    ...has('p99') ? [latency(report, moments, 'Response time', false)] : [],
    ...line('lagMs', 'Event-loop delay', { label: 'longest of any worker', color: 'p99', format: time })
  ]
  const all = [throughput(report, moments), ...figures]
  return all.map((what, i) => ({ ...what, isLast: i === all.length - 1 }))
}

function figure (report, moments, name, title, line) {
  const { data: [times], marks } = throughput(report, moments)
  const data = [times, moments.map(moment => moment[name])]
  return { title, height: 92, data, lines: [line], format: line.format, marks }
}

/** A few errors a minute are to be seen, too. */
const rate = value => value > 0 && value < 10 ? value.toFixed(1) : whole(value)

module.exports = { LiveCharts }
