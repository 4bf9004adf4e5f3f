'use strict'

const t = require('tap')
const { judge } = require('../../../lib/tools/drill/verdict')

const good = { requests: 1_204_331, dropped: 0, recycles: 118, kills: null, reopened: 0, isAlone: true, supervisor: { cut: 0, unknown: 0 }, arrived: true, url: 'http://127.0.0.1:3000', uneven: [], errors: new Map(), statuses: new Map(), broke: null }

t.test('nothing dropped over some recycles is clean', async t => {
  t.match(judge({ ...good, uneven: [{ address: ':3000', slots: [0] }] }), { verdict: 'uneven', exitCode: 1, sentence: /different addresses: :3000 in slot 0 alone/ })
  t.same(judge(good), { verdict: 'clean', exitCode: 0, sentence: '0 dropped of 1,204,331 requests over 118 recycles' })
  t.same(judge({ ...good, requests: 1, recycles: 1 }).sentence, '0 dropped of 1 request over 1 recycle')
  t.same(judge({ ...good, arrived: null }).exitCode, 0, 'where there was no time to ask the workers')
})

t.test('a drop decides the verdict, whatever else happened', async t => {
  const errors = new Map([['status', 1], ['reset', 1200]])
  t.same(judge({ ...good, dropped: 1201, errors }), { verdict: 'dropped', exitCode: 1, sentence: '1,201 dropped of 1,204,331 requests over 118 recycles (1,200 reset, 1 status)' })
  t.same(judge({ ...good, dropped: 1201, errors, recycles: 0 }).exitCode, 1)
  t.same(judge({ ...good, dropped: 1201, errors, broke: 'the app died' }).exitCode, 1)
})

t.test('without a recycle, without load or without an end it is inconclusive', async t => {
  for (const [findings, sentence] of [
    [{ recycles: 0 }, /^no recycle took place/],
    [{ requests: 0 }, /^the load never arrived: no request could be sent/],
    [{ requests: 0, broke: 'the app died' }, /^the app died$/],
    [{ broke: 'a process of the load ended' }, /^a process of the load ended$/],
    [{ arrived: false }, /not this fleet/],
    [{ requests: 7, dropped: 7, errors: new Map([['timeout', 7]]) }, /^the load never arrived: http:\/\/127.0.0.1:3000 answered none of 7 requests \(7 timeout\)$/]
  ]) {
    const verdict = judge({ ...good, ...findings })
    t.match(verdict, { verdict: 'inconclusive', exitCode: 2, sentence })
  }
})

t.test('where the fleet has other clients, the loss on cut or unaccounted connections is unknown', async t => {
  const running = { ...good, isAlone: false }
  t.equal(judge(running).verdict, 'clean')
  for (const supervisor of [{ cut: 1, unknown: 0 }, { cut: 0, unknown: 2 }]) {
    t.match(judge({ ...running, supervisor }), { verdict: 'inconclusive', exitCode: 2, sentence: /^0 dropped .* other clients, .* [01] cut, [02] ended with a worker that crashed or gave no account$/ })
    t.equal(judge({ ...running, dropped: 1, supervisor }).verdict, 'dropped')
  }
})

t.test('a fleet of the drill itself is clean only if the supervisor, too, lost nothing', async t => {
  for (const supervisor of [{ cut: 1, unknown: 0 }, { cut: 0, unknown: 2 }]) {
    t.same(judge({ ...good, supervisor }), { verdict: 'inconclusive', exitCode: 2, sentence: `0 dropped of 1,204,331 requests over 118 recycles, but the supervisor reports ${supervisor.cut} cut, ${supervisor.unknown} unaccounted for` })
    t.equal(judge({ ...good, dropped: 1, supervisor }).verdict, 'dropped')
  }
})

t.test('a wrong status is an answer: the load has arrived', async t => {
  t.equal(judge({ ...good, requests: 7, dropped: 7, errors: new Map([['status', 7]]) }).exitCode, 1)
})

t.test('a request that its worker dies of has arrived, though none is answered and no worker lives to count one', async t => {
  const all = { ...good, requests: 7, dropped: 7, recycles: 0, errors: new Map([['reset', 7]]), arrived: false }
  t.equal(judge(all).exitCode, 2)
  t.same(judge({ ...all, isDeadly: true }), { verdict: 'dropped', exitCode: 1, sentence: '7 dropped of 7 requests over 0 recycles (7 reset)' })
})

t.test('kills count as recycles do, and tell how many connections were opened in place of others', async t => {
  const killing = { ...good, recycles: 0, kills: 20 }
  t.same(judge(killing), { verdict: 'clean', exitCode: 0, sentence: '0 dropped of 1,204,331 requests over 20 kills, 0 connections reopened' })
  t.equal(judge({ ...killing, recycles: 1, kills: 1, reopened: 1 }).sentence, '0 dropped of 1,204,331 requests over 1 recycle and 1 kill, 1 connection reopened')
  t.equal(judge({ ...killing, reopened: null }).sentence, '0 dropped of 1,204,331 requests over 20 kills', 'where each request has its own')
  t.equal(judge({ ...killing, kills: null, adoptedMs: [620, 540] }).sentence, '0 dropped of 1,204,331 requests over 2 kills of the supervisor, supervised again within 700ms, 0 connections reopened')
  t.match(judge({ ...good, adoptedMs: [] }), { verdict: 'inconclusive', exitCode: 2, sentence: /^the supervisor was not killed/ })
  t.match(judge({ ...good, kills: 0 }), { verdict: 'inconclusive', exitCode: 2, sentence: /^no worker was killed/ })
})

t.test('statuses are named', async t => {
  const errors = new Map([['status', 12], ['reset', 3]])
  const statuses = new Map([[503, 2], [502, 10]])
  t.match(judge({ ...good, dropped: 15, errors, statuses }).sentence, /\(10 status 502, 3 reset, 2 status 503\)$/)
})
