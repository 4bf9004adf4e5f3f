'use strict'

/* global document, EventSource */

const { h } = require('../../../tools/report/page/browser/element.cjs')
const { whole, size, plural } = require('../../../tools/report/page/browser/format.cjs')
const {
  masthead, tile, recyclesTile, cutTile, crashTile, unaccountedTile
} = require('../../../tools/report/page/browser/masthead.cjs')
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
/** Contents, as text, of the parts that are rebuilt. */
const shown = new Map()

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
  rebuild(routes, state.memoryByRoute, () => [tables.routes(state)])
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

function tiles (report) {
  const { moved, moves } = report
  const { workers, series, exceptions, failover } = state
  const [thrown, answered] = [exceptions?.count ?? 0, failover?.answered ?? 0]
  const sum = name => workers.reduce((total, worker) => total + (worker[name] ?? 0), 0)
  return h('dl.tiles', {}, [
    tile('Requests/s', whole(series.client.at(-1)?.perSecond ?? null), `${whole(sum('inFlight'))} in flight`),
    tile('Connections', whole(sum('connections'))),
    tile('RSS', size(sum('rssBytes')), 'of all workers'),
    recyclesTile(report),
    tile('Moved', whole(moved), moves.join(', ') || 'connections, to a sibling'),
    cutTile(report),
    tile('Errors', whole(thrown + answered),
      `${plural(thrown, 'exception')}; ${whole(answered)} answered 502 for a dead worker`, thrown + answered > 0),
    unaccountedTile(report),
    crashTile(report)
  ])
}

/** The tables of past recycles and crashes. */
function showHistory (report) {
  const latestFirst = {
    ...report, recycleEvents: [...report.recycleEvents].reverse(), crashEvents: [...report.crashEvents].reverse()
  }
  rebuild(history, [report.recycleEvents.map(({ id }) => id), report.crashEvents.length],
    () => [tables.crashes(latestFirst), tables.recycles(latestFirst)])
}

/** Only when there is something new: a column that was clicked stays sorted until then. */
function rebuild (part, what, make) {
  const text = JSON.stringify(what)
  if (text === shown.get(part)) return
  shown.set(part, text)
  part.replaceChildren(...make().filter(table => table !== null))
}
