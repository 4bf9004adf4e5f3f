'use strict'

/* global document, EventSource */

const { h } = require('../../../tools/report/page/browser/element.cjs')
const { whole, size, plural } = require('../../../tools/report/page/browser/format.cjs')
const { masthead, tile, crashTile, unaccountedTile } = require('../../../tools/report/page/browser/masthead.cjs')
const tables = require('../../../tools/report/page/browser/tables.cjs')
const { comparisons } = require('../../../tools/report/page/browser/comparisons.cjs')
const { LiveCharts } = require('./live-charts.cjs')
const { State } = require('./state.cjs')
const { Workers } = require('./workers.cjs')

const AGAIN_MS = 5000

const page = document.getElementById('page')
const link = h('span.link', { role: 'status' }, [h('i'), h('span', {}, ['connecting'])])
const top = h('div')
const charts = new LiveCharts()
const workers = new Workers()
const live = h('div')
const routes = h('div')
const history = h('div')
let state = new State()
let shownHistory = ''
let shownRoutes = ''

page.replaceChildren(top, live, charts.element, workers.element, routes, history)
document.addEventListener('visibilitychange', draw)
connect()

function connect () {
  const source = new EventSource('events')
  source.addEventListener('picture', ({ data }) => {
    state = new State()
    say('on', 'live')
    take(data)
  })
  source.addEventListener('news', ({ data }) => take(data))
  source.addEventListener('end', () => {
    source.close()
    say('off', 'the fleet has stopped')
    setTimeout(connect, AGAIN_MS) // another fleet may start at the same address
  })
  source.addEventListener('error', () => {
    if (link.className !== 'link off') say('off', 'not connected')
    // A closed EventSource does not reconnect
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN_MS)
  })
}

function say (how, text) {
  link.className = `link ${how}`
  link.lastChild.textContent = text
  page.classList.toggle('stale', how === 'off')
}

function take (data) {
  state.add(JSON.parse(data))
  draw()
}

function draw () {
  if (document.hidden || state.about === null) return
  const { report } = state
  const headline = sayHow(report)
  document.title = `${report.name ?? 'fleet'}: ${headline[0]} – recycle`
  const slots = new Set(state.workers.map(({ slot }) => slot)).size
  const head = masthead({ ...report, workers: slots, from: report.startedAt }, 'live',
    [report.name ?? 'fleet', headline.join('; ')])
  head.querySelector('.brand').append(link)
  top.replaceChildren(head, tiles(report))
  live.replaceChildren(...state.live.map(one => comparisons([one])))
  charts.show(state)
  workers.show(state)
  showRoutes(state)
  showHistory(report)
}

/** For a reader who does not know the words of the report. @returns {[string, string]} */
function sayHow ({ recycles, verdict }) {
  const { workers, size: { wanted } } = state
  const ready = workers.filter(worker => worker.state === 'ready').length
  return [
    `${whole(ready)} of ${plural(wanted, 'worker')} in service`,
    verdict.ok
      ? `${plural(recycles, 'worker')} replaced, and no request was lost`
      : verdict.text.replace(/^([\d,]+) cut over/,
        (_, count) => `${count} ${count === '1' ? 'request' : 'requests'} cut in`)
  ]
}

function tiles ({ recycles, moved, moves, cut, unaccounted, byReason, ...report }) {
  const { workers, series, exceptions, failover } = state
  const [thrown, answered] = [exceptions?.count ?? 0, failover?.answered ?? 0]
  const sum = name => workers.reduce((total, worker) => total + (worker[name] ?? 0), 0)
  const reasons = Object.entries(byReason).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([reason, count]) =>
    `${whole(count)} ${reason}`).join(', ')
  return h('dl.tiles', {}, [
    tile('Requests/s', whole(series.client.at(-1)?.perSecond ?? null), `${whole(sum('inFlight'))} in flight`),
    tile('Connections', whole(sum('connections'))),
    tile('RSS', size(sum('rssBytes')), 'of all workers'),
    tile('Recycles', whole(recycles), reasons),
    tile('Moved', whole(moved), moves.join(', ') || 'connections, to a sibling'),
    tile('Cut', whole(cut), 'requests, at the drain timeout', cut > 0),
    tile('Errors', whole(thrown + answered),
      `${plural(thrown, 'exception')}; ${whole(answered)} answered 502 for a dead worker`, thrown + answered > 0),
    unaccountedTile(unaccounted),
    crashTile(report)
  ])
}

/** Rebuilt only when there is a new estimate: a column that was clicked stays sorted until then. */
function showRoutes ({ memoryByRoute }) {
  const shown = JSON.stringify(memoryByRoute)
  if (shown === shownRoutes) return
  shownRoutes = shown
  routes.replaceChildren(...[tables.routes({ memoryByRoute })].filter(part => part !== null))
}

/** The tables of past recycles and crashes, rebuilt only when there are new ones. */
function showHistory (report) {
  const latestFirst = {
    ...report, recycleEvents: [...report.recycleEvents].reverse(), crashEvents: [...report.crashEvents].reverse()
  }
  const shown = JSON.stringify([report.recycleEvents.map(({ id }) => id), report.crashEvents.length])
  if (shown === shownHistory) return
  shownHistory = shown
  history.replaceChildren(...[tables.crashes(latestFirst), tables.recycles(latestFirst)].filter(part => part !== null))
}
