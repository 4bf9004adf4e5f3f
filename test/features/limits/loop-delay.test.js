'use strict'

const { setTimeout: wait } = require('node:timers/promises')
const t = require('tap')
const { LoopDelay } = require('../../../lib/features/max-lag/loop-delay')

/** The figure of the next period. @param {LoopDelay} delay @param {() => void} [work] */
async function period (delay, work = () => {}) {
  const before = delay.p99Ms
  delay.p99Ms = null
  while (delay.p99Ms === null) {
    work()
    await wait(20)
    delay.look()
  }
  return { before, p99Ms: /** @type {number} */ (delay.p99Ms) }
}

/** @param {number} ms */
const block = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

t.test('a loop that is blocked again and again is late', async t => {
  const delay = new LoopDelay(300)
  t.equal(delay.p99Ms, null, 'not known before a period has passed')
  const { p99Ms } = await period(delay, () => block(60))
  t.ok(p99Ms >= 45, `${p99Ms} ms`)
})

t.test('the block that makes the look itself late is in the figure', async t => {
  const delay = new LoopDelay(100)
  await wait(50)
  block(200)
  delay.look()
  await wait(1)
  t.ok(Number(delay.p99Ms) >= 150, `${delay.p99Ms} ms`)
})
