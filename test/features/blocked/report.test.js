'use strict'

const t = require('tap')
const { painter } = require('../../../lib/journal/painter')
const { paperOf } = require('../../../lib/tools/report/paper')
const { Figures: BlockedLoops, linesOf } = require('../../../lib/features/blocked/report')

const tools = paperOf(painter(false), 80)
const blocked = (/** @type {any} */ fields) => ({ event: 'worker.blocked', slot: 0, pid: 1, blockedMs: 30_000, request: 'GET /report', requests: [], stack: ['parse (/srv/app.js:12:5)'], ...fields })

/** @param {any[]} lines */
function summaryOf (lines) {
  const figures = new BlockedLoops()
  for (const line of lines) figures.handlers['worker.blocked'](line)
  return figures.summary()
}

t.test('those of one request at one place are counted together, the longest first', async t => {
  t.equal(summaryOf([]), null)
  const summary = summaryOf([
    blocked({}), blocked({ blockedMs: 6210 }), blocked({ blockedMs: 90_000, request: null, stack: null })
  ])
  t.same(summary, { count: 3, places: [{ request: null, place: null, count: 1, longestMs: 90_000 }, { request: 'GET /report', place: 'parse (app.js:12)', count: 2, longestMs: 30_000 }] })
  const text = linesOf(/** @type {any} */ (summary), tools).join('\n')
  t.match(text, /1 +90 s +– +not known/)
  t.match(text, /2 +30 s +GET \/report +parse \(app\.js:12\)/)
})

t.test('whatever a journal has there', async t => {
  for (const odd of [{ stack: 'a' }, { stack: [null, {}, 7] }, { request: {} }, { blockedMs: 'long' }, { blockedMs: -1 }]) t.equal(summaryOf([blocked(odd)])?.count, 1, JSON.stringify(odd))
  t.equal(summaryOf(Array.from({ length: 500 }, (_, i) => blocked({ request: `GET /${i}` })))?.count, 500)
})
