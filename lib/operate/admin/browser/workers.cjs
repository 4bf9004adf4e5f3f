'use strict'

/* global document */

const { h } = require('../../../tools/report/page/browser/element.cjs')
const { scroller } = require('../../../tools/report/page/browser/grid.cjs')
const { NONE, whole, size, time } = require('../../../tools/report/page/browser/format.cjs')
const { stateOf } = require('../../worker-state.cjs')

/** How a figure is shown, by its unit. */
const SAY = {
  bytes: size,
  ms: time,
  percent: value => typeof value === 'number' ? `${Math.round(value)} %` : NONE,
  share: share => `${Math.round(share * 100)} %`,
  count: whole,
  total: whole
}

/** Title, whether it is text, and the cell's text; State and RSS cells hold elements that are updated in place. */
const COLUMNS = [
  ['Slot', false, worker => whole(worker.slot)],
  ['Pid', false, worker => `${worker.pid}`],
  ['State', true, stateOf],
  ['Age', false, worker => time(worker.ageMs)],
  ['RSS', true, worker => worker.rssBytes],
  ...JSON.parse(document.getElementById('data').textContent)
    .map(({ name, unit, title }) => [title, false, worker => SAY[unit](worker[name])]),
  ['Recycles', false, worker =>
    worker.lastReason === null ? whole(worker.recycles) : `${whole(worker.recycles)}, ${worker.lastReason}`]
]

/** The table of workers. The row of a worker stays the same element for as long as the worker lives. */
class Workers {
  #body = h('tbody')
  /** By pid. */
  #rows = new Map()
  element = h('section.workers', {}, [
    h('h2', {}, ['Workers']),
    scroller('Workers', h('table', {}, [
      h('caption', {}, ['Every worker of the fleet']),
      h('thead', {},
        [h('tr', {}, COLUMNS.map(([title, isText]) => h(isText ? 'th.left' : 'th', { scope: 'col' }, [title])))]),
      this.#body
    ]))
  ])

  show ({ workers }) {
    const before = this.#rows
    this.#rows = new Map(workers.map(worker => [worker.pid, before.get(worker.pid) ?? row()]))
    for (const [pid, { element }] of before) if (!this.#rows.has(pid)) element.remove()
    workers.forEach((worker, i) => {
      const { element, fill } = this.#rows.get(worker.pid)
      fill(worker)
      if (this.#body.children[i] !== element) this.#body.insertBefore(element, this.#body.children[i] ?? null)
    })
  }
}

function row () {
  const cells = COLUMNS.map(([, isText]) => h(isText ? 'td.left' : 'td'))
  const state = h('span.state')
  const meter = h('meter', { min: '0', max: '1', 'aria-label': 'RSS of the budget' })
  const rss = h('span')
  const fill = worker => COLUMNS.forEach(([title, , valueOf], i) => {
    if (title === 'State') {
      state.textContent = stateOf(worker)
      state.className = `state ${stateOf(worker)}`
      state.title = worker.paused ?? ''
      if (!state.isConnected) cells[i].append(state)
    } else if (title === 'RSS') {
      setMeter(meter, worker)
      rss.textContent = worker.budgetBytes === null || worker.rssBytes === null
        ? size(worker.rssBytes)
        : `${size(worker.rssBytes)} of ${size(worker.budgetBytes)}`
      if (!rss.isConnected) cells[i].append(meter, rss)
    } else {
      const text = valueOf(worker)
      if (cells[i].textContent !== text) cells[i].textContent = text
    }
  })
  return { element: h('tr', {}, cells), fill }
}

function setMeter (meter, { rssBytes, budgetBytes }) {
  meter.hidden = budgetBytes === null || rssBytes === null
  if (meter.hidden) return
  meter.value = rssBytes / budgetBytes
  Object.assign(meter, { low: 0.8, high: 1, optimum: 0 })
  meter.max = 1.25
}

module.exports = { Workers }
