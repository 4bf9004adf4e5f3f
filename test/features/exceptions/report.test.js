'use strict'

const t = require('tap')
const { painter } = require('../../../lib/journal/painter')
const { paperOf } = require('../../../lib/tools/report/paper')
const { Figures: Exceptions, linesOf } = require('../../../lib/features/exceptions/report')

const tools = (/** @type {number} */ width) => paperOf(painter(false), width)
const line = (/** @type {Record<string, any>} */ about = {}) => ({ name: 'Error', message: 'it', stack: 'Error: it\n    at f (/a.js:1:1)', request: 'GET /', seen: 1, ...about })

/** @param {Record<string, any>[]} lines */
function summaryOf (lines) {
  const exceptions = new Exceptions()
  for (const each of lines) exceptions.handlers['worker.exception'](each)
  return exceptions.summary()
}

t.test('a journal without exceptions has no summary', async t => {
  t.equal(summaryOf([]), null)
})

t.test('kinds are counted by what their lines have seen, the most frequent first', async t => {
  t.same(summaryOf([line({ name: 'TypeError' }), line(), line({ seen: 40, request: 'GET /b' })]), {
    count: 41,
    kinds: [{ name: 'Error', message: 'it', request: 'GET /', count: 40 }, { name: 'TypeError', message: 'it', request: 'GET /', count: 1 }]
  })
})

t.test('fields of the wrong type, or too long, are as in no journal of ours', async t => {
  t.same(summaryOf([line({ name: 7, message: null, stack: {}, request: [], seen: 'many' })]), { count: 1, kinds: [{ name: '', message: '', request: null, count: 1 }] })
  const [kind] = /** @type {any} */ (summaryOf([line({ name: 'n'.repeat(1e5), message: 'm'.repeat(1e5), request: 'r'.repeat(1e5) })])).kinds
  t.same([kind.name, kind.message, kind.request].map(text => text.length), [200, 200, 200])
})

t.test('a line each in the terminal, within its width, and safe for it', async t => {
  const summary = /** @type {any} */ (summaryOf([line({ message: `\u001b[2J${'long '.repeat(40)}`, seen: 12 }), line({ name: 'TypeError', request: null })]))
  const lines = linesOf(summary, tools(60))
  t.equal(lines.length, 3)
  for (const each of lines) t.ok(each.length <= 60, each)
  t.match(lines[0], /count +request +not caught/)
  t.match(lines[1], /12 +GET \/ +Error: \\u\{1b\}\[2Jlong/)
  t.match(lines[2], /1 +– +TypeError: it$/)
})
