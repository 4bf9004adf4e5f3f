'use strict'

const { h } = require('../../../report/page/browser/element.cjs')
const { MOST_SLOTS_AT_ONCE, legend, throughput, strips, moreSlots } = require('../../../report/page/browser/charts.cjs')
const { Plots } = require('../../../report/page/browser/plot.cjs')
const { time } = require('../../../report/page/browser/format.cjs')

/** The report's charts, updated live. */
class LiveCharts {
  element = h('section.charts')
  #plots = new Plots({ from: 0, to: 1, isLive: true })
  /** The title of each figure's plot. */
  #figures = new Map()
  #shape = ''

  /** @param {import('./state.cjs').State} state */
  show ({ report, series, range }) {
    const traffic = trafficOf(report, series.client)
    const slots = strips(report, series.memory)
    const shape = JSON.stringify([...traffic, ...slots].map(({ title, lines }) => [title, lines.length]))
    if (shape !== this.#shape) this.#build(report, range, traffic, slots)
    this.#shape = shape
    const whats = new Map([...traffic, ...slots].map(what => [what.title, what]))
    this.#plots.follow(range, new Map([...this.#figures].map(([figure, title]) => [figure, whats.get(title)])))
  }

  #build (report, range, traffic, slots) {
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
      h('h2', {}, ['Memory by slot']), memory
    )
  }
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
