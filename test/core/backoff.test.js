'use strict'

const t = require('tap')
const { backoffMs } = require('../../lib/core/backoff')

t.test('the wait doubles with each failure in a row, from 250 ms to a minute', async t => {
  t.same([0, 1, 2, 3, 4, 8, 9, 10, 100, 1e6].map(backoffMs), [0, 250, 500, 1000, 2000, 32_000, 60_000, 60_000, 60_000, 60_000])
})
