'use strict'

const { h } = require('./element.cjs')
const { isLeaving, recycleMoment, dropMoment, crashMoment } = require('./moment.cjs')
const { Plots } = require('./plot.cjs')
const { whole, size, time, plural, timeOf } = require('./format.cjs')

const MOST_SLOTS_AT_ONCE = 12
const LOG_FROM_RATIO = 30

/** Traffic and each slot's memory, on a shared time axis. */
function charts ({ report, series }) {
  if (report.from === null) return null
  const plots = new Plots(report)
  const panels = []
  if (series.client.length > 0) {
    panels.push(['Traffic', h('div.panel', {},
      [throughput(report, series.client), latency(report, series.client)].map(what => plots.add(what)))])
  }
  if (series.scaling.length > 0) {
    panels.push(['Workers and load', h('div.panel', {}, [plots.add(workers(series.scaling, report.scaling))])])
  }
  if (series.memory.length > 0) panels.push(['Memory by slot', memory(plots, report, series.memory)])
  if (panels.length === 0) return null
  return h('section.charts', {}, panels.flatMap(([title, panel], i) => [
    h('h2', {}, [title]),
    i === 0 ? legend(report) : null,
    title === 'Memory by slot' ? budgetHint(series.memory) : null,
    panel
  ]))
}

function legend ({ drops, crashEvents, recycleEvents }) {
  return h('p.hint', {}, [
    swatch('recycle', 'a recycle, with its number in the table'),
    recycleEvents.some(({ kind }) => isLeaving(kind)) ? swatch('stop', 'a stop, or a slot that closed') : null,
    drops.length ? swatch('drop', 'a dropped request') : null,
    crashEvents.length ? swatch('crash', 'a crash') : null,
    swatch('shade', 'a worker is being replaced'),
    h('span.how', {}, ['Hover for values, drag to zoom, double-click to reset the zoom'])
  ])
}

const swatch = (kind, label) => h('span.swatch', {}, [h(`i.${kind}`), label])

function throughput (report, client, isLast = false) {
  return {
    title: 'Throughput',
    height: 120,
    isLast,
    data: [client.map(({ t }) => t / 1000), client.map(({ perSecond }) => perSecond)],
    lines: [{ label: 'requests/s', color: 'rate', format: whole, fill: true }],
    format: whole,
    marks: { spans: spansOf(report.recycleEvents), moments: report.drops.map(drop => dropMoment(drop, timeOf(report))) }
  }
}

function latency (report, client, title = 'Latency', isLast = true) {
  const [p50, p99] = ['p50', 'p99'].map(name => client.map(moment => moment[name] > 0 ? moment[name] : null))
  const all = [...p50, ...p99].filter(value => value !== null)
  const isLog = all.reduce((a, b) => Math.max(a, b), 0) >
    LOG_FROM_RATIO * all.reduce((a, b) => Math.min(a, b), Infinity)
  return {
    title: isLog ? `${title} (log)` : title,
    height: 150,
    isLast,
    isLog,
    data: [client.map(({ t }) => t / 1000), p50, p99],
    lines: [{ label: 'p50', color: 'p50', format: time }, { label: 'p99', color: 'p99', format: time }],
    format: time,
    marks: { spans: spansOf(report.recycleEvents), moments: report.drops.map(drop => dropMoment(drop, timeOf(report))) }
  }
}

/**
 * How many there were to be, how many were ready, and how many the load kept busy.
 * @param {any[]} moments @param {any} bounds null: there are none
 */
function workers (moments, bounds) {
  const limits = ['min', 'max'].filter(which => typeof bounds?.[which] === 'number')
  return {
    title: 'Workers',
    height: 120,
    isLast: true,
    data: [
      moments.map(({ t }) => t / 1000),
      ...['busy', 'ready', 'wanted'].map(name => moments.map(moment => moment[name])),
      ...limits.map(which => moments.map(() => bounds[which]))
    ],
    lines: [
      { label: 'busy', color: 'rate', format: tenths, fill: true },
      { label: 'ready', color: 'memory', format: tenths, stepped: true },
      { label: 'wanted', color: 'budget', format: tenths, dash: [4, 4], stepped: true },
      ...limits.map(which => ({ label: which, color: 'muted', format: tenths, dash: [1, 5] }))
    ],
    format: tenths,
    marks: { spans: [], moments: [] }
  }
}

/**
 * The load alone: the number of workers is fixed, and a line of it would say nothing.
 * @param {any[]} moments @param {number} wanted
 */
function busy (moments, wanted) {
  const { data: [times, load], lines: [line], ...what } = workers(moments, null)
  return {
    ...what, title: 'Load', y: [0, wanted * 1.05], data: [times, load],
    lines: [{ ...line, label: `workers' worth of work, of ${wanted}` }]
  }
}

const tenths = value => `${Math.round(value * 10) / 10}`

/** @param {any[]} slots @returns {HTMLElement | null} null: there are no budgets */
function budgetHint (slots) {
  const hasBudget = slots.some(({ points }) => points.some(({ budget }) => budget !== null))
  return hasBudget
    ? h('p.hint', {}, [
      'The budget of a worker is --max-rss less a random part (--jitter), so that workers do not reach theirs together.'
    ])
    : null
}

function memory (plots, report, slots) {
  const whats = strips(report, slots)
  const panel = h('div.panel', {}, whats.slice(0, MOST_SLOTS_AT_ONCE).map(what => plots.add(what)))
  const rest = whats.slice(MOST_SLOTS_AT_ONCE)
  if (rest.length > 0) panel.append(moreSlots(rest.length, () => rest.map(what => plots.add(what))))
  return panel
}

/** @param {number} count @param {() => HTMLElement[]} draw makes the elements that replace the button */
function moreSlots (count, draw) {
  const more = h('button.more', { type: 'button', click: () => more.replaceWith(...draw()) },
    [`Show ${plural(count, 'more slot')}`])
  return more
}

/** The plot of each slot's memory, all to the same scale. */
function strips (report, slots) {
  const top = slots.reduce((most, { points }) =>
    points.reduce((top, { bytes, budget }) => Math.max(top, bytes, budget ?? 0), most), 0) * 1.12
  return slots.map(({ slot, points }, i) =>
    strip(report, {
      slot, points, top, isLast: i === Math.min(slots.length, MOST_SLOTS_AT_ONCE) - 1 || i === slots.length - 1
    }))
}

function strip (report, { slot, points, top, isLast }) {
  const isHere = event => event.slot === slot
  const clock = timeOf(report)
  const events = report.recycleEvents.filter(isHere)
  const xs = points.map(({ t }) => t / 1000)
  const budgets = points.map(({ budget }) => budget)
  const hasBudget = budgets.some(budget => budget !== null)
  return {
    title: `Slot ${slot}`,
    height: 92,
    isLast,
    y: [0, top],
    data: [xs, points.map(({ bytes }) => bytes), ...hasBudget ? [budgets] : []],
    lines: [
      { label: report.metric.toUpperCase(), color: 'memory', format: size, fill: true },
      ...hasBudget ? [{ label: 'budget', color: 'budget', format: size, dash: [4, 4], stepped: true }] : []
    ],
    format: size,
    isBytes: true,
    marks: {
      spans: spansOf(events),
      moments: [
        ...events.map(event => recycleMoment(event, clock)),
        ...report.crashEvents.filter(isHere).map(crash => crashMoment(crash, clock)),
        ...report.drops.filter(isHere).map(drop => dropMoment(drop, clock))
      ]
    }
  }
}

const spansOf = events => events.map(({ beganAt, t }) => ({ from: beganAt, to: t }))

module.exports = {
  MOST_SLOTS_AT_ONCE, charts, legend, throughput, latency, workers, busy, budgetHint, strips, moreSlots
}
