'use strict'

const t = require('tap')
const Ajv = require('ajv/dist/2020')
const { heapProfile } = require('../../../lib/features/leak-line/command')
const { renderPage } = require('../../../lib/features/leak-line/page')
const { sayPlace } = require('../../../lib/features/leak-line/place')
const { linesOf } = require('../../../lib/features/leak-line/table')
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const schema = require('../../report-schema').reportSchema()
const { fleetStart, line } = require('../../tools/report/written')

const place = (/** @type {string} */ name, /** @type {string} */ file, /** @type {number} */ at) => ({
  name, file, line: at
})
const FOUND = { at: place('remember', '/srv/app.js', 4), callers: [place('handle', '/srv/app.js', 9), place('', '/srv/app.js', 20)], by: place('parse', '/srv/node_modules/p/x.js', 2), isGrowing: true, isSure: true, share: 0.94, bytes: 2048, bytesPerRequest: 1024, low: 900, high: 1200, samples: 40, halves: [1024, 1024] }
const OUTCOME = { verdict: /** @type {const} */ ('grows'), requests: 2000, bytes: 2048, mostPerRequest: 1200, outside: null, found: [FOUND, { ...FOUND, isSure: false }] }
const TREE = [{ name: 'handle', file: '/srv/app.js', line: 9, column: 3, kind: /** @type {const} */ ('app'), bytes: 0, children: [{ name: '</script>', file: 'node:fs', line: 1, column: 1, kind: /** @type {const} */ ('node'), bytes: 2048, children: [] }] }]
const RESULT = {
  slot: 1,
  pid: 7,
  why: null,
  tookMs: 60_000,
  outcome: OUTCOME,
  growth: { total: null, halves: [], rows: [], tree: TREE },
  readings: [{ pauseMs: 40 }, { pauseMs: 50 }],
  recycled: []
}

t.test('the table: share, bytes a request with their interval, function, place, callers, and what has allocated', async t => {
  t.same(linesOf(RESULT, { width: 120, folder: '/srv' }), [
    'remember app.js:4 leaks: it keeps 1 KiB of each request (900 B to 1.2 KiB), 94 % of the growth in 2,000 requests',
    '',
    'growth  a request     95 % interval         halves  function  where',
    '  94 %      1 KiB  900 B to 1.2 KiB  1 KiB + 1 KiB  remember  app.js:4',
    '                                                    called by handle app.js:9, by (anonymous) app.js:20',
    '                                                    allocates in parse p/x.js:2',
    '',
    '1 more function with too few samples, too little growth, or beyond the first 10',
    '',
    '2 readings in 1m, out of rotation for 40ms, 50ms each'
  ])
})

t.test('a place: relative to a folder, unless that is far away', async t => {
  t.equal(sayPlace(place('f', '/srv/shop/lib/a.js', 4), '/srv/shop'), 'f lib/a.js:4')
  t.equal(sayPlace(place('', '/srv/shop/lib/a.js', 4)), '(anonymous) /srv/shop/lib/a.js:4')
  t.equal(sayPlace(place('f', '/var/a.js', 4), '/srv/shop/one/two'), 'f /var/a.js:4')
  t.equal(sayPlace(place('f', 'node:fs', 4), '/srv'), 'f node:fs:4')
  t.equal(sayPlace(place('(GC)', '', 0), '/srv'), '(GC) (V8)')
})

t.test('the .heapprofile has what DevTools reads: a tree with ids and sizes, and samples', async t => {
  const isValid = new Ajv().compile({
    type: 'object',
    required: ['head', 'samples'],
    properties: { head: { $ref: '#/$defs/node' }, samples: { type: 'array', items: { type: 'object', required: ['nodeId', 'size', 'ordinal'] } } },
    $defs: {
      node: {
        type: 'object',
        required: ['callFrame', 'id', 'selfSize', 'children'],
        properties: {
          callFrame: { type: 'object', required: ['functionName', 'scriptId', 'url', 'lineNumber', 'columnNumber'], properties: { scriptId: { type: 'string' }, lineNumber: { type: 'integer', minimum: -1 } } },
          id: { type: 'integer' },
          selfSize: { type: 'number' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } }
        }
      }
    }
  })
  const profile = JSON.parse(heapProfile(RESULT.growth))
  t.ok(isValid(profile), JSON.stringify(isValid.errors))
  t.match(profile.head.children[0], { callFrame: { functionName: 'handle', url: 'file:///srv/app.js', lineNumber: 8, columnNumber: 2 }, children: [{ selfSize: 2048 }] })
  t.same(profile.samples, [{ nodeId: 3, size: 2048, ordinal: 1 }])
  t.ok(isValid(JSON.parse(heapProfile(null))))
})

t.test('the page holds its data as text, and loads nothing', async t => {
  const html = renderPage(RESULT)
  t.match(html, "default-src 'none'")
  t.notMatch(html, '</script>:')
  t.match(html, '\\u003c/script\\u003e')
  t.notMatch(html, /src=|href=|uPlot/)
})

t.test('in the report: a list of sentences, in the schema; lines of another version are left out', async t => {
  const figures = new Figures()
  const end = { slot: 1, pid: 7, by: 'budget', tookMs: 9, why: null, ...OUTCOME }
  for (const one of [fleetStart(), line(5, 'leak.end', end), line(6, 'leak.end', { verdict: 'grows' }), line(7, 'leak.end', { verdict: 5 })]) figures.add(one)
  const full = /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 })
  const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)
  t.ok(isValid(full), JSON.stringify(isValid.errors))
  t.match(full, { leakStudies: [{ slot: 1, pid: 7, by: 'budget', verdict: 'grows', sentences: [/^remember .*leaks/] }], leakStudiesOmitted: 0 })
  t.equal(full.leakStudies.length, 1)
  const text = formatReport(full)
  t.match(text, /studies of leaks\nslot 1 \(7\): remember \/srv\/app\.js:4 leaks/)
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})
