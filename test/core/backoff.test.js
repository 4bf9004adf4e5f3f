'use strict'

const t = require('tap')
const { backoffMs, Backoff } = require('../../lib/core/backoff')

t.test('the wait doubles with each failure in a row, from 250 ms to a minute', async t => {
  t.same([0, 1, 2, 3, 4, 8, 9, 10, 100, 1e6].map(backoffMs), [
    0, 250, 500, 1000, 2000, 32_000, 60_000, 60_000, 60_000, 60_000
  ])
})

t.test('while no worker serves, the wait is a second at most; a success ends it', async t => {
  const boots = new Backoff()
  t.match(boots, { failures: 0, notBefore: 0, unservedNotBefore: 0 }, 'the first try need not wait')
  for (let i = 0; i < 3; i++) boots.failed(10_000)
  t.match(boots, { failures: 3, notBefore: 11_000, unservedNotBefore: 11_000 })
  for (let i = 0; i < 7; i++) boots.failed(20_000)
  t.match(boots, { notBefore: 80_000, unservedNotBefore: 21_000 })
  boots.succeeded()
  t.match(boots, { failures: 0, notBefore: 0, unservedNotBefore: 0 })
})
