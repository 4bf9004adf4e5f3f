'use strict'

const t = require('tap')
const { resolveOptions } = require('../../../lib/tables/resolved-options')
const { partOptions, recycleEveryMs } = require('../../../lib/tools/drill/options')

const own = (/** @type {Record<string, any>} */ given) => partOptions(given).own

t.test('the defaults', async t => {
  t.same(own({}), {
    connections: 50,
    durationMs: 30_000,
    url: null,
    method: 'GET',
    path: '/',
    headers: {},
    body: null,
    rate: null,
    expect: [[200, 399]],
    keepAlive: true,
    timeoutMs: 10_000,
    recycleEveryMs: null,
    killEveryMs: null,
    killPrimaryEveryMs: null,
    loadWorkers: 1,
    out: null
  })
})

t.test('the options of the drill are separated from those of the supervisor', async t => {
  const { own, supervisors } = partOptions({ connections: '7', maxRss: '64MiB', handoff: false })
  t.equal(own.connections, 7)
  t.same(supervisors, { maxRss: '64MiB', handoff: false })
})

t.test('statuses: single ones, classes, ranges and lists of these', async t => {
  t.same(own({ expect: '200,404' }).expect, [[200, 200], [404, 404]])
  t.same(own({ expect: '2xx, 5XX' }).expect, [[200, 299], [500, 599]])
  t.same(own({ expect: ['200-204', 301] }).expect, [[200, 204], [301, 301]])
})

t.test('headers: as text, as a list, as an object', async t => {
  t.same(own({ header: 'X-Drill: a: b' }).headers, { 'x-drill': 'a: b' })
  t.same(own({ header: ['Accept: a', 'Accept: b', 'Host: c'] }).headers, { accept: ['a', 'b'], host: 'c' })
  t.same(own({ header: { Accept: 'a' } }).headers, { accept: 'a' })
})

t.test('the path of a URL is used, unless a path is given', async t => {
  t.equal(own({ url: 'http://localhost:1/a?b=c' }).path, '/a?b=c')
  t.equal(own({ url: 'http://localhost:1/a', path: '/d' }).path, '/d')
})

t.test('bad values are refused in one sentence', async t => {
  for (const [name, given] of Object.entries({
    connections: ['0', '1.5', 'many', '100001'],
    duration: ['0', '99ms', 'soon', '1y'],
    url: ['localhost:3000', 'ftp://localhost', '3000'],
    method: ['FETCH', 'CONNECT', 'G T'],
    path: ['a', 'http://localhost/', '/a b'],
    header: ['X-Drill', ': a', 'X Drill: a', 'X-Drill: a\nb'],
    rate: ['0', '-1', 'fast'],
    expect: ['', 'ok', '20', '299-200', '6xx', '200,'],
    recycleEvery: ['0', '9ms', 'never'],
    kill: ['0', '9ms', 'often', '5'],
    loadWorkers: ['0', '257'],
    timeout: ['0'],
    keepAlive: ['no']
  })) {
    for (const value of given) {
      t.throws(() => own({ [name]: value }), { code: 'RECYCLE_BAD_OPTION', message: new RegExp(`^${name} was given `) }, `${name} ${value}`)
    }
  }
  t.throws(() => own({ nonsense: 1 }), { code: 'RECYCLE_UNKNOWN_OPTION' })
  t.throws(() => own({ journal: 'x' }), { code: 'RECYCLE_UNKNOWN_OPTION' }, 'the journal is part of the run file')
  t.throws(() => own({ connections: 1, loadWorkers: 2 }), { code: 'RECYCLE_BAD_USAGE', message: /^2 load workers cannot share 1 connections/ })
})

t.test('a recycle every 2 s, or as often as given; none with a budget, or where workers are killed', async t => {
  const every = (/** @type {any} */ drills, /** @type {any} */ supervisors) =>
    recycleEveryMs(own(drills), resolveOptions(supervisors, { parallelism: 2 }))
  t.equal(every({}, {}), 2000)
  t.equal(every({ recycleEvery: '100ms' }, { maxRss: '64MiB' }), 100)
  for (const budget of [{ maxRss: '64MiB' }, { maxRequests: 10 }, { maxAge: '5s' }]) t.equal(every({}, budget), null)
  t.equal(every({ kill: '1s' }, {}), null)
  t.equal(every({ kill: '1s', recycleEvery: '3s' }, {}), 3000)
})
