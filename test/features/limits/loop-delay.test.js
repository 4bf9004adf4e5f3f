'use strict'

const { setTimeout: wait } = require('node:timers/promises')
const t = require('tap')
const { part } = require('../../../lib/features/max-lag/worker')

const measureDelay = /** @type {any} */ (part)

/** @param {number} ms */
const block = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

t.test('a loop that is blocked again and again is late', async t => {
  const { figures } = measureDelay(null, { periodMs: 300 })
  t.equal(figures().lagP99Ms, null, 'not known before a period has passed')
  while (figures().lagP99Ms === null) {
    block(60)
    await wait(20)
  }
  const { lagP99Ms } = figures()
  t.ok(Number(lagP99Ms) >= 45, `${lagP99Ms} ms`)
})

t.test('the block that makes the look itself late is in the figure', async t => {
  const { figures } = measureDelay(null, { periodMs: 100 })
  await wait(50)
  block(200)
  figures()
  await wait(1)
  await new Promise(resolve => setImmediate(resolve)) // the timer may come before what the look has left to its turn
  const { lagP99Ms } = figures()
  t.ok(Number(lagP99Ms) >= 150, `${lagP99Ms} ms`)
})
