'use strict'

const t = require('tap')
const { ACCOUNT, MOST_CUTS, addCuts, openAccount, lostAccount, rescuedAccount, lostWith, streamsCut } = require('../../lib/core/account')
const { sumOfEnds } = require('../support/fleet')

t.test('an account opens with the connections that are there, none of them settled', async t => {
  const account = openAccount(7, 3)
  const { connections, inFlight, cuts, ...counts } = account
  t.same([connections, inFlight, cuts], [7, 3, []])
  t.same(Object.keys(counts).sort(), ['aborted', 'closedAfterResponse', 'closedByClient', 'closedIdle', 'cut', 'finished', 'moved', 'refused', 'replayed', 'takenBack', 'unaccounted', 'unacked'])
  t.ok(Object.values(counts).every(count => count === 0))
  t.equal(sumOfEnds(account), 0)
})

t.test('the account of a worker that sent none: requests in flight were cut, the other connections are unknown', async t => {
  for (const [connections, inFlight, cut, unaccounted] of [[2, 0, 0, 2], [5, 2, 2, 3], [1, 50, 1, 0], [0, 0, 0, 0]]) {
    const account = lostAccount(connections, inFlight)
    t.match(account, { connections, inFlight, cut, unaccounted, cuts: [] })
    t.equal(sumOfEnds(account), connections)
  }
})

t.test('the account of a worker that died in its drain, where its connections outlive it', async t => {
  const cut = { method: 'POST', path: '/', ageMs: 5, remotePort: 1, upgraded: false }
  const outcome = { moved: 4, replayed: 2, answered: 1, cut: 1, ended: 3, cuts: [cut, cut] }
  const account = rescuedAccount(15, 5, outcome)
  t.match(account, { connections: 15, inFlight: 5, moved: 6, replayed: 2, cut: 2, closedByClient: 3, unaccounted: 4, cuts: [cut, cut] }, 'those that were young are not known')
  t.equal(sumOfEnds(account), 15)
  const more = rescuedAccount(10, 5, outcome)
  t.match(more, { connections: 11, unaccounted: 0 }, 'some have come since its last beat')
  t.equal(sumOfEnds(more), 11)
})

t.test('what was lost with a worker that crashed', async t => {
  t.same(lostWith({ connections: 9, inFlight: 4 }), { connections: 9, inFlight: 4 }, 'nothing outlived it')
  const outlived = { connections: 9, inFlight: 4, moved: 3, replayed: 2, answered: 1, cut: 1, ended: 1 }
  t.same(lostWith(outlived), { connections: 3, inFlight: 2 }, 'of one it is not known')
  t.same(lostWith({ ...outlived, inFlight: 5 }), { connections: 3, inFlight: 3 }, 'and may have had the fifth request')
  t.same(lostWith({ connections: 30, inFlight: 22, moved: 0, replayed: 0, answered: 0, cut: 0, ended: 0 }), { connections: 30, inFlight: 22 }, 'none was rescued')
  t.same(lostWith({ ...outlived, connections: 2 }), { connections: 2, inFlight: 2 }, 'more are known than it had at its last beat')
  t.same(lostWith({ connections: -1, inFlight: 'x', moved: 0, answered: NaN }), { connections: 0, inFlight: 0 }, 'a line of another version')
  t.same(lostWith({ connections: 0, inFlight: 0 }), { connections: 0, inFlight: 0 }, 'it had none')
  t.same(lostWith({ connections: 5, inFlight: 0, moved: 5, replayed: 0, answered: 0, cut: 0, ended: 0 }), { connections: 0, inFlight: 0 }, 'all outlived it')
})

t.test('two accounts share nothing', async t => {
  openAccount(1, 1).cuts.push(/** @type {any} */ ({}))
  t.same(openAccount(1, 1).cuts, [])
})

t.test('of a worker an account is taken in which each connection ends once, and each cut is named', async t => {
  const cut = { method: 'GET', path: '/', ageMs: 5, remotePort: null, upgraded: false }
  const account = { ...openAccount(3, 1), moved: 2, cut: 1, cuts: [cut] }
  t.equal(ACCOUNT(account), null)
  for (const wrong of [{ moved: 1 }, { closedIdle: 1 }, { connections: 4 }, { cuts: [] }]) {
    t.same(ACCOUNT({ ...account, ...wrong }), { at: '', accepts: 'one in which each connection ends once, and each cut is named' }, JSON.stringify(wrong))
  }
  t.match(ACCOUNT({ ...account, moved: -1 }), { at: '.moved' })
})

t.test('a cut is told with a path of up to 2,000 characters and a method of up to 100', async t => {
  const of = (/** @type {number} */ method, /** @type {number} */ path) => ACCOUNT({
    ...openAccount(1, 1), cut: 1, cuts: [{ method: 'M'.repeat(method), path: 'p'.repeat(path), ageMs: 5, remotePort: null, upgraded: false }]
  })
  t.equal(of(100, 2000), null)
  t.match(of(101, 2000), { at: '.cuts[0].method' })
  t.match(of(100, 2001), { at: '.cuts[0].path' })
})

t.test('of many cuts 1,000 are named, and how many more there were is told, streams apart', async t => {
  const cut = { method: 'GET', path: '/', ageMs: 5, remotePort: null, upgraded: false }
  const account = { ...openAccount(MOST_CUTS + 5, 1), cut: MOST_CUTS + 5 }
  addCuts(account, [cut, cut])
  t.same([account.cuts, account.unnamed], [[cut, cut], undefined], 'all are named')
  for (let i = 0; i < MOST_CUTS; i++) addCuts(account, [cut])
  addCuts(account, [{ ...cut, upgraded: true }, cut, { ...cut, upgraded: true }])
  t.same([account.cuts.length, account.unnamed, account.unnamedStreams], [MOST_CUTS, 5, 2])
  t.equal(ACCOUNT(account), null)
  t.equal(streamsCut(account), 2)
  t.match(ACCOUNT({ ...account, unnamed: 4 }), { at: '' }, 'each is named or counted')
  t.match(ACCOUNT({ ...account, cuts: Array(MOST_CUTS + 1).fill(cut) }), { at: '.cuts' })
  const outcome = { moved: 0, replayed: 0, answered: 0, cut: 5, ended: 0, cuts: [cut], unnamed: 4, unnamedStreams: 0 }
  t.match(rescuedAccount(5, 5, outcome), { cut: 5, cuts: [cut], unnamed: 4 })
})

t.test('of what was cut, upgraded and raw connections are told apart, as far as an account names them', async t => {
  const [stream, request] = [{ upgraded: true }, { upgraded: false }]
  t.equal(streamsCut({ cut: 3, cuts: [stream, request, stream] }), 2)
  t.equal(streamsCut({ cut: 1, cuts: [stream, stream] }), 1, 'one connection may have had several')
  t.equal(streamsCut({ cut: 2 }), 0)
  t.equal(streamsCut({ cuts: [stream] }), 0, 'what is not counted as cut was not')
  t.equal(streamsCut({ cut: 1, cuts: /** @type {any} */ ([null]) }), 0, 'a line of another version')
})
