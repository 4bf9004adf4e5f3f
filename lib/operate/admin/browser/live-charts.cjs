'use strict'

const { h } = require('../../../tools/report/page/browser/element.cjs')
const { MOST_SLOTS_AT_ONCE, legend, throughput, workers, busy, budgetHint, strips, moreSlots } = require('../../../tools/report/page/browser/charts.cjs')
const { Plots } = require('../../../tools/report/page/browser/plot.cjs')
const { time, plural } = require('../../../tools/report/page/browser/format.cjs')

/** The report's charts, updated live. */
class LiveCharts {
  element = h('section.charts')
  #plots = new Plots({ from: 0, to: 1, isLive: true })
  /** The title of each figure's plot. */
  #figures = new Map()
  #shape = ''
  #sizing = h('p.hint')

  /** @param {import('./state.cjs').State} state */
  show ({ t, report, series, range, size, autoscale }) {
    const traffic = trafficOf(report, series.client)
    const load = autoscale === null ? busy(series.client, size.wanted) : workers(series.client, autoscale)
    const slots = strips(report, series.memory)
    this.#sizing.textContent = sizing(size, autoscale, t)
    const shape = JSON.stringify([...traffic, load, ...slots].map(({ title, lines }) => [title, lines.length]))
    if (shape !== this.#shape) this.#build(report, series, range, traffic, load, slots)
    this.#shape = shape
    const whats = new Map([...traffic, load, ...slots].map(what => [what.title, what]))
    this.#plots.follow(range, new Map([...this.#figures].map(([figure, title]) => [figure, whats.get(title)])))
  }

  #build (report, series, range, traffic, load, slots) {
    this.#plots.clear()
    this.#plots.range = range
    this.#figures.clear()
    const draw = what => {
      const figure = this.#plots.add(what)
      this.#figures.set(figure, what.title)
      return figure
    }
    const memory = h('div.panel', {}, slots.slice(0, MOST_SLOTS_AT_ONCE).map(draw))
    const rest = slots.slice(MOST_SLOTS_AT_ONCE)
    if (rest.length > 0) memory.append(moreSlots(rest.length, () => rest.map(draw)))
    this.element.replaceChildren(
      h('h2', {}, ['Traffic']), legend({ ...report, crashEvents: [null] }), h('div.panel', {}, traffic.map(draw)),
      h('h2', {}, [load.title === 'Load' ? 'Load' : 'Workers and load']), this.#sizing, h('div.panel', {}, [draw(load)]),
      h('h2', {}, ['Memory by slot']), ...[budgetHint(series.memory)].filter(hint => hint !== null), memory
    )
  }
}

/**
 * By what the number of workers is decided, and why there are as many.
 *
 * @param {import('../picture').Size} size @param {{ min: number, max: number, isPinned: boolean } | null} autoscale
 * @param {number} now
 */
function sizing ({ wanted, change }, autoscale, now) {
  const by = autoscale === null
    ? `${plural(wanted, 'worker')}, a fixed number`
    : autoscale.isPinned ? `Pinned at ${plural(wanted, 'worker')}; by the load it would be ${autoscale.min} to ${autoscale.max}` : `Auto: ${autoscale.min} to ${autoscale.max} workers by the load`
  return change === null ? `${by}.` : `${by}. Last change ${time(1000 * Math.max(1, Math.round((now - change.t) / 1000)))} ago: ${change.from} → ${change.to}, reason ${change.reason}.`
}

function trafficOf (report, moments) {
  const hasLag = moments.some(({ lagMs }) => lagMs !== null)
  const requests = throughput(report, moments, !hasLag)
  if (!hasLag) return [requests]
  return [requests, {
    title: 'Event-loop delay',
    height: 92,
    isLast: true,
    data: [requests.data[0], moments.map(({ lagMs }) => lagMs)],
    lines: [{ label: 'longest of any worker', color: 'p99', format: time }],
    format: time,
    marks: requests.marks
  }]
}

module.exports = { LiveCharts }
