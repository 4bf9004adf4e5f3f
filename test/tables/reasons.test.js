'use strict'

/** Code names a reason where it gives it, and asks its row for the rest: none compares reasons, or lists them. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const acorn = require('acorn')
const walk = require('acorn-walk')
const { KILLS } = require('../../lib/core/kills')
const { REASONS, REPLACING } = require('../../lib/tables/reasons')

const LIB = path.join(__dirname, '..', '..', 'lib')
const NAMES = new Set([...REASONS.keys(), ...Object.keys(KILLS)])

/** Lines of the journal that have few reasons. @type {Record<string, string>} */
const EXCEPT = {
  'features/gc/feature.js': 'labels of a counter',
  'features/gc/primary.js': 'requested by a command or not',
  'features/heapdump/feature.js': 'by a command or not',
  'tools/drill/restarted-fleet.js': 'counts the lines of one reason'
}

/** @param {string} source @returns {string[]} reasons that are compared or listed */
function known (source) {
  /** @type {string[]} */
  const found = []
  const isReason = (/** @type {any} */ node) => node?.type === 'Literal' && NAMES.has(node.value)
  const isOfReason = (/** @type {any} */ { start, end }) =>
    /(?:reason|why|requested|killedFor)\b\W*$/i.test(source.slice(start, end))
  walk.simple(acorn.parse(source, { ecmaVersion: 'latest', allowHashBang: true }), {
    BinaryExpression ({ left, right }) {
      for (const [one, other] of [[left, right], [right, left]]) {
        if (isReason(one) && isOfReason(other)) found.push(source.slice(one.start, one.end))
      }
    },
    SwitchStatement ({ discriminant, cases }) {
      if (!isOfReason(discriminant)) return
      found.push(...cases.flatMap(({ test }) => isReason(test) ? source.slice(test?.start, test?.end) : []))
    },
    ArrayExpression ({ elements, start, end }) {
      if (elements.length > 1 && elements.every(isReason)) found.push(source.slice(start, end))
    }
  })
  return found
}

t.test('the walk sees comparisons and lists', async t => {
  t.same(known("if (handle.reason === 'rss' || 'age' !== why) f('rss', metric === 'rss')"), ["'rss'", "'age'"])
  t.same(known("['rss', 'anon'].includes(metric) && ['rss', 'age'].includes(String(reason))"), ["['rss', 'age']"])
  t.same(known("switch (reason) { case 'rss': f() }"), ["'rss'"])
})

t.test('nothing outside of the rows knows a reason', async t => {
  const files = fs.readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(file => /\.c?js$/.test(file)).sort()
  t.ok(files.length > 350)
  const sourceOf = (/** @type {string} */ file) => fs.readFileSync(path.join(LIB, file), 'utf8')
  const all = files.flatMap(file => known(sourceOf(file)).map(what => ({ file, what })))
  t.same(all.filter(({ file }) => !EXCEPT[file]), [])
  t.same(Object.keys(EXCEPT).filter(name => !all.some(({ file }) => file === name)), [], 'no exception is left over')
})

t.test('a reason is one row', async t => {
  t.same(REPLACING, [
    'hard-rss', 'rss', 'requests', 'age', 'heap', 'fds', 'lag', 'handles', 'unhealthy', 'stuck', 'exception',
    'requested', 'adopted', 'reload', 'protocol-error'
  ], 'labels of recycles_total, in their order')
  const having = (/** @type {keyof import('../../lib/tables/reasons').Row} */ key) =>
    [...REASONS.values()].filter(row => row[key]).map(({ reason }) => reason)
  t.same(having('over'), ['hard-rss', 'rss'])
  t.same(having('isOfMemory'), ['hard-rss', 'rss', 'heap'])
  t.same(having('isCommand'), ['requested', 'reload'])
  t.same([...having('isOfRollout'), ...having('isFault'), ...having('isOfSlot')], ['reload', 'protocol-error', 'scale'])
})
