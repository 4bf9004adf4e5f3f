'use strict'

const t = require('tap')
const { Crashes, sayCrashing } = require('../../lib/core/crashes')

/** @param {{ at: number, how?: string, requests?: Record<string, number> }[]} list */
function of (list) {
  const crashes = new Crashes()
  for (const { at, how = 'exit code 1', requests = {} } of list) {
    crashes.add({ at, how, requests: Object.entries(requests).map(([request, count]) => ({ request, count })) })
  }
  return crashes
}

t.test('three crashes within ten seconds are crashing, until they are longer ago', async t => {
  t.equal(of([]).describe(0), null)
  t.equal(of([{ at: 0 }, { at: 1 }]).describe(1), null)
  const crashes = of([{ at: 0 }, { at: 2000, how: 'SIGSEGV' }, { at: 7000, how: 'SIGBUS' }])
  t.same(crashes.describe(7500), { crashes: 3, withinMs: 7000, how: 'SIGBUS', requests: [] })
  t.equal(crashes.describe(10_000), null)
  t.equal(of([{ at: 5000 }, { at: 5500 }, { at: 7000 }]).describe(7000)?.withinMs, 2000)
})

t.test('of very many crashes the latest 200 are kept', async t => {
  t.equal(of(Array.from({ length: 250 }, () => ({ at: 0 }))).describe(0)?.crashes, 200)
})

t.test('what most of them had in flight is named first', async t => {
  const { requests } = of([
    { at: 0, requests: { 'GET /a': 1, 'GET /poison': 1 } },
    { at: 1, requests: { 'GET /poison': 1, 'GET /b': 1 } },
    { at: 2 },
    { at: 3, requests: { 'GET /c': 1, 'GET /poison': 1, 'GET /b': 1 } }
  ]).describe(3) ?? {}
  t.same(requests, [{ request: 'GET /poison', crashes: 3 }, { request: 'GET /b', crashes: 2 }, { request: 'GET /c', crashes: 1 }])
})

t.test('of those that all had, the rarest; else the latest', async t => {
  const busy = Array.from({ length: 3 }, (_, at) => ({ at, requests: { 'GET /': 50, 'GET /poison': 1 } }))
  t.equal(of(busy).describe(2)?.requests[0].request, 'GET /poison')
  const told = Array.from({ length: 3 }, (_, at) => ({ at, requests: { 'GET /poison': 1, 'GET /': 1 } }))
  t.equal(of(told).describe(2)?.requests[0].request, 'GET /poison')
  const late = [{ at: 0, requests: { 'GET /poison': 1, 'GET /b': 1, 'GET /c': 1, 'GET /': 1 } }, { at: 1 }, { at: 2, requests: { 'GET /': 1, 'GET /poison': 1 } }]
  t.equal(of(late).describe(2)?.requests[0].request, 'GET /poison', 'over all of them')
})

t.test('it is said in one sentence', async t => {
  t.equal(sayCrashing({ crashes: 7, withinMs: 1700, how: 'exit code 1', requests: [{ request: 'GET /poison', crashes: 7 }] }),
    'crashing: 7 in 2 s, the last by exit code 1 with GET /poison in flight')
  t.equal(sayCrashing({ crashes: 3, withinMs: 0, how: 'SIGSEGV', requests: [] }), 'crashing: 3 in 1 s, the last by SIGSEGV')
  t.match(sayCrashing({ crashes: 3, withinMs: 2001, how: 'SIGSEGV', requests: [] }), 'crashing: 3 in 3 s')
})
