'use strict'

/* global document */

const { h } = require('./element.cjs')
const { charts } = require('./charts.cjs')
const { masthead, tile, recyclesTile, cutTile, crashTile, unaccountedTile } = require('./masthead.cjs')
const { comparisons } = require('./comparisons.cjs')
const tables = require('./tables.cjs')
const { whole, time, plural } = require('./format.cjs')
const { remarksOf } = require('../../remarks.cjs')

const { version, report, series } = JSON.parse(document.getElementById('data').textContent)

document.title = `${report.verdict.text} – recycle report`
document.getElementById('page').replaceChildren(...[
  masthead(report, 'report'),
  tiles(),
  charts({ report, series }),
  tables.drops(report),
  tables.disagreements(report),
  tables.crashes(report),
  tables.exceptions(report),
  comparisons(report.canaries ?? []),
  tables.latency(report),
  tables.routes(report),
  tables.leaks(report),
  tables.heapdumps(report),
  tables.pauses(report),
  tables.recycles(report),
  tables.departures(report),
  footer()
].filter(part => part !== null))

function tiles () {
  const { requests, dropped, moved, latency } = report
  const p99 = latency.recycling ?? latency.steady
  return h('dl.tiles', {}, [
    requests === null ? null : tile('Requests', whole(requests)),
    dropped === null ? null : tile('Dropped', whole(dropped), null, dropped > 0),
    recyclesTile(report),
    tile('Moved', whole(moved), 'connections, to a sibling'),
    cutTile(report),
    unaccountedTile(report),
    crashTile(report),
    p99 === null
      ? null
      : tile(latency.recycling ? 'p99 recycling' : 'p99', time(p99.p99),
        latency.recycling && latency.steady ? `${time(latency.steady.p99)} in steady state` : null)
  ])
}

function footer () {
  const remarks = remarksOf(report, { grouped: whole, count: plural, time, clean: text => text })
    .map(remark => `${remark[0].toUpperCase()}${remark.slice(1)}.`)
  const meaning = 'A drop is a request that the client sent and that got no complete response with an expected ' +
    'status. “Joined by port” is certain; “joined by time” may be a coincidence.'
  return h('footer', {}, [...remarks, meaning, `Made by recycle ${version}.`].map(text => h('p', {}, [text])))
}
