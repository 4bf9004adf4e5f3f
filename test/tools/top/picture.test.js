'use strict'

const t = require('tap')
const { FleetView } = require('../../../lib/tools/top/fleet-view')
const { picture } = require('../../../lib/tools/top/picture')
const { colorOf, formatStatus } = require('../../../lib/operate/control-table')

const MIB = 1024 ** 2

/** @param {number} slot @param {Record<string, any>} [but] */
const worker = (slot, but) => ({
  slot,
  pid: 1000 + slot,
  state: 'ready',
  ageMs: 90_000,
  rssBytes: 100 * MIB,
  budgetBytes: 200 * MIB,
  cpuPercent: 12.4,
  elu: 0.25,
  connections: 3,
  inFlight: 1,
  requests: 1000,
  recycles: 2,
  lastReason: 'rss',
  ...but
})

/** @param {Record<string, any>[]} workers */
const statusOf = workers => ({ v: 1, name: 'shop', pid: 77, app: '/srv/shop.js', workers, totals: { workers: workers.length, ready: workers.length, recycles: 4 } })

/** @param {Record<string, any>[]} workers */
function fleetOf (workers) {
  const fleet = new FleetView()
  fleet.update(statusOf(workers), 0)
  return fleet
}

const HOW = { columns: 80, rows: 24, colors: false, now: 0, message: '' }
const BIG = { pid: 4194303, state: 'draining', ageMs: 99 * 3_600_000, rssBytes: 2000 * MIB, budgetBytes: 3000 * MIB, cpuPercent: 104, elu: 1, connections: 12_345, inFlight: 999, requests: 123_456_789, recycles: 999 }

t.test('a row has every figure of its worker', async t => {
  const lines = picture(fleetOf([worker(0), worker(1, { budgetBytes: null, cpuPercent: null, lastReason: null })]), HOW)
  t.equal(lines.length, 24)
  t.same(lines.slice(0, 7).map(line => line.trimEnd()), [
    'shop  pid 77  /srv/shop.js',
    '2 of 2 workers ready, 200 MiB RSS, 4 recycles, 0 requests/s',
    '',
    '  #  pid state age MiB     last min          CPU ELU conn fly reqs rec last',
    '▸ 0 1000 ready  1m 100/200                 ▄ 12% .25    3   1 1000   2 rss',
    '  1 1001 ready  1m 100                     █   – .25    3   1 1000   2',
    ''
  ])
  t.equal(lines[23], 'q quit  ↑↓ select  r recycle')
})

t.test('memory is by the metric in force, in its row, its history and its color, and in the table of status', async t => {
  const over = { metric: 'anon', rssBytes: 400 * MIB, anonBytes: 20 * MIB }
  const fleet = fleetOf([worker(0, over), worker(1, { ...over, anonBytes: null })])
  t.same(picture(fleet, HOW).slice(4, 6).map(line => line.slice(18, 26).trim()), ['20/200', '–/200'])
  t.same(fleet.rows[0].history?.in(1), [20 * MIB])
  t.equal(colorOf(fleet.rows[0].worker), 'green')
  t.match(formatStatus({ ...fleet.status, uneven: [] }), /█░+ +20 of 200 anon /)
})

t.test('a worker that is paused or condemned, or whose load others do, is said to be', async t => {
  const workers = [worker(0, { paused: 'refills its cache', rests: true }), worker(1, { rests: true }), worker(2, { state: 'out-of-rotation' }), worker(3, { state: 'draining', condemned: 'rss' }), worker(4, { condemned: 'rss', rests: true })]
  t.same(picture(fleetOf(workers), HOW).slice(4, 9).map(line => line.slice(9, 15).trim()), ['paused', 'rest', 'out', 'drain', 'cond'])
})

t.test('connections that went from one worker to another while both served are said', async t => {
  const fleet = fleetOf([worker(0)])
  fleet.update({
    ...statusOf([worker(0)]), totals: { workers: 1, ready: 1, recycles: 0, moves: { load: 12, number: 3, leaving: 9 } }
  }, 1000)
  t.match(picture(fleet, HOW)[1], /^1 of 1 worker ready, 100 MiB RSS, 0 recycles, moved 12 by load, 3 to even them out, \d+ requests\/s/)
})

t.test('80 columns have room for all figures, also those of many large, busy workers', async t => {
  for (const workers of [[worker(0)], Array.from({ length: 12 }, (_, i) => worker(i)), [worker(1023, BIG)]]) {
    const lines = picture(fleetOf(workers), HOW)
    for (const line of lines.slice(3, 4 + workers.length)) t.ok(line.lastIndexOf(' rec') + 4 <= 80 && line.replace(/ \S+$/, '').length <= 80, line)
  }
})

t.test('80 columns hold the reason of the last recycle', async t => {
  const busy = {
    slot: 32,
    pid: 4194303,
    rssBytes: 480 * MIB,
    budgetBytes: 512 * MIB,
    cpuPercent: 100,
    elu: 1,
    connections: 1234,
    inFlight: 200,
    requests: 99_999,
    recycles: 999
  }
  const reasons = ['rss', 'hard-rss', 'requests', 'age', 'heap', 'fds', 'lag', 'stuck', 'unhealthy', 'reload', 'requested']
  for (const [lastReason, shown] of [...reasons.map(reason => [reason, reason]), ['protocol-error', 'protocol']]) {
    const row = picture(fleetOf([worker(0, { ...busy, lastReason })]), HOW)[4]
    t.ok(row.slice(0, 80).trimEnd().endsWith(` ${shown}`), row)
  }
})

t.test('extra columns of a wide terminal go to the sparkline', async t => {
  const fleet = fleetOf([worker(0)])
  const headings = [80, 100, 120, 200].map(columns => picture(fleet, { ...HOW, columns })[3])
  t.ok(headings.every((heading, i) =>
    i === 0 || heading.length > headings[i - 1].length || heading.length === headings[2].length))
  t.ok(headings.every((heading, i) => heading.length <= [80, 100, 120, 200][i] + 8))
})

t.test('of many workers, those around the selected one are shown', async t => {
  const fleet = fleetOf(Array.from({ length: 40 }, (_, i) => worker(i)))
  const slots = () => picture(fleet, HOW).slice(4, 17).map(line => Number(line.slice(2, 5)))
  t.same(slots(), Array.from({ length: 13 }, (_, i) => i))
  t.ok(picture(fleet, HOW).includes('rows 1 to 13 of 40: ↑↓'))
  fleet.move(20)
  t.ok(slots().includes(20))
  t.match(picture(fleet, HOW).find(line => line.startsWith('▸')), /^▸ 20 /)
  fleet.move(100)
  t.same(slots(), Array.from({ length: 13 }, (_, i) => 27 + i))
  fleet.move(-100)
  t.equal(slots()[0], 0)
})

t.test('the number of lines is that of the rows, however few', async t => {
  const fleet = fleetOf(Array.from({ length: 9 }, (_, i) => worker(i)))
  for (const rows of [1, 2, 3, 5, 8, 11, 24, 100]) t.equal(picture(fleet, { ...HOW, rows }).length, rows)
})

t.test('the selection stays with the worker, and then with its slot', async t => {
  const fleet = fleetOf([worker(0), worker(1), worker(2)])
  fleet.move(1)
  fleet.update(statusOf([worker(0), worker(1), worker(1, { pid: 2001, state: 'spawning' }), worker(2)]), 1000)
  t.equal(fleet.selected?.worker.pid, 1001)
  fleet.update(statusOf([worker(0), worker(1, { pid: 2001 }), worker(2)]), 2000)
  t.equal(fleet.selected?.worker.pid, 2001)
  fleet.update(statusOf([worker(0)]), 3000)
  t.equal(fleet.selected?.worker.pid, 1000)
})

t.test('requests per second are counted over the present workers', async t => {
  const fleet = fleetOf([worker(0, { requests: 1000 }), worker(1, { requests: 5000 })])
  t.equal(fleet.requestsPerSecond, 0, 'the first picture has no rate')
  fleet.update(statusOf([worker(0, { requests: 1100 }), worker(1, { pid: 2001, requests: 30 })]), 2000)
  t.equal(fleet.requestsPerSecond, 65)
})

t.test('the sparkline follows the worker in service, across its recycle', async t => {
  const fleet = fleetOf([worker(0, { rssBytes: 200 * MIB })])
  fleet.update(statusOf([worker(0, { rssBytes: 200 * MIB, state: 'draining' }), worker(0, { pid: 2000, rssBytes: 50 * MIB })]), 1000)
  const lines = picture(fleet, { ...HOW, columns: 200 })
  t.notMatch(lines[4], /[▁-▇]|█ +\d+%/)
  t.match(lines[5], / 50\/200 .*█ +12%/)
})

t.test('control characters of an app never reach the terminal', async t => {
  const fleet = fleetOf([worker(0)])
  fleet.note({ t: 0, event: 'worker.request', slot: 0, pid: 1, reason: 'a\u001b[2J\nb\u009b31m' })
  fleet.note({ t: 0, event: 'worker.sample', slot: 0 })
  const lines = picture(fleet, { ...HOW, message: 'c\u001b[2Jd' })
  t.match(lines[6], 'slot 0 (1) asks to be recycled: a\\u{1b}[2J\\u{a}b\\u{9b}31m')
  t.equal(lines[7], '', 'samples are not shown as events')
  t.notMatch(lines.join(''), /\p{Cc}/u)
})

t.test('in colour: near the budget, over it, and the selected worker', async t => {
  const fleet = fleetOf([worker(0), worker(1, { rssBytes: 170 * MIB }), worker(2, { rssBytes: 250 * MIB }), worker(3)])
  const lines = picture(fleet, { ...HOW, colors: true })
  t.ok(lines[4].startsWith('\u001b[7m▸ 0 '))
  t.match(lines[5], '\u001b[33m▇\u001b[39m')
  t.match(lines[6], '\u001b[31m█\u001b[39m')
  t.match(lines[7], '\u001b[32m▄\u001b[39m')
})

t.test('a late answer of the fleet is shown', async t => {
  const fleet = fleetOf([worker(0)])
  t.match(picture(fleet, { ...HOW, now: 3000 })[1], /ready/)
  t.equal(picture(fleet, { ...HOW, now: 5500 })[1], 'no answer for 5s')
})
