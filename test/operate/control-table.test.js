'use strict'

const t = require('tap')
const { formatFleets, formatStatus } = require('../../lib/operate/control-table')

const WORKER = {
  slot: 0,
  pid: 10,
  state: 'ready',
  generation: 0,
  app: 'app.js',
  ageMs: 1000,
  rssBytes: 90 * 2 ** 20,
  pssBytes: null,
  ussBytes: null,
  budgetBytes: 100 * 2 ** 20,
  metric: 'rss',
  cpuPercent: null,
  elu: 0,
  connections: 0,
  inFlight: 0,
  requests: 0,
  recycles: 0,
  lastReason: null
}

t.test('the bar of a worker has the colour of how near its budget is, and no other cell has one', async t => {
  const workers = [
    WORKER, { ...WORKER, slot: null, pid: 11, rssBytes: null }, { ...WORKER, slot: 1, pid: 12, budgetBytes: null }
  ]
  const totals = { workers: 2, ready: 2, recycles: 0 }
  const status = { name: 'app', pid: 1, app: 'app.js', workers, totals, memory: null }
  const rows = formatStatus(status, { colors: true }).split('\n').filter(line => / 1[012] /.test(line))
  t.equal(rows.length, 3)
  t.match(rows[0], '\u001b[33m█████████░\u001b[39m')
  t.notOk(rows.slice(1).join('').includes('\u001b'), 'where there is no bar')
})

t.test('a memory that is not measured yet is not 0 B', async t => {
  const totals = { workers: 1, ready: 1, recycles: 0 }
  const status = { name: 'app', pid: 1, app: 'app.js', workers: [{ ...WORKER, rssBytes: null }], totals, memory: null }
  t.match(formatStatus(status).split('\n')[1], /^1 of 1 worker ready, 0 recycles$/)
  t.match(formatFleets([{ ...status, rssBytes: 0 }]).split('\n')[1], /^app +1 +1 of 1 +– +0 +app\.js$/)
})
