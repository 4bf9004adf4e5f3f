'use strict'

const t = require('tap')
const { openAccount, lostAccount } = require('../../lib/core/account')
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

t.test('two accounts share nothing', async t => {
  openAccount(1, 1).cuts.push(/** @type {any} */ ({}))
  t.same(openAccount(1, 1).cuts, [])
})
