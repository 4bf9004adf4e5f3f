'use strict'

const { mock } = require('node:test')
const t = require('tap')

const FILE = require.resolve('../../lib/native/every')

/**
 * A clock that is set.
 * @param {any} t @returns {typeof import('../../lib/native/every') & { pass: (ms: number, sleptMs?: number) => void }}
 */
function clock (t) {
  let at = 100_100
  mock.timers.enable({ apis: ['setTimeout'] })
  mock.method(performance, 'now', () => at - 50) // of a process that began then
  mock.method(process.hrtime, 'bigint', () => BigInt(at) * 1_000_000n)
  delete require.cache[FILE]
  t.teardown(() => {
    mock.restoreAll()
    mock.timers.reset()
  })
  return {
    ...require(FILE),
    pass (/** @type {number} */ ms, sleptMs = 0) {
      at += sleptMs
      for (let i = 0; i < ms; i++) {
        at++
        mock.timers.tick(1)
      }
    }
  }
}

t.test('what recurs does so at multiples of its interval; what is ended does not', async t => {
  const { every, untilNext, pass } = clock(t)
  /** @type {string[]} */
  const done = []
  const ends = [['a', 250], ['b', 500], ['c', 1000]].map(([name, ms]) => every(Number(ms), () => { done.push(String(name)) }))
  t.equal(untilNext(1000), 900)
  const passed = (/** @type {number} */ ms) => {
    pass(ms)
    return done.splice(0).join('')
  }
  t.equal(passed(145), '')
  t.equal(passed(10), 'a')
  t.equal(passed(245), 'ab')
  t.equal(passed(250), 'a')
  t.equal(passed(250), 'abc')
  ends[0]()
  ends[2]()
  t.equal(passed(1000), 'bb')
  ends[1]()
  t.equal(passed(1000), '')
})

t.test('one may end another, begin one, and throw; the others go on', async t => {
  const { every, pass } = clock(t)
  /** @type {string[]} */
  const done = []
  /** @type {(() => void)[]} */
  const ends = []
  ends.push(every(100, () => {
    ends[1]()
    if (done.push('a') === 1) ends.push(every(50, () => { done.push('d') }))
  }))
  ends.push(every(100, () => { done.push('b') }))
  ends.push(every(200, () => { throw new Error('of c') }))
  t.throws(() => pass(110), { message: 'of c' })
  t.same(done, ['a'])
  pass(60)
  t.same(done, ['a', 'd'])
  pass(110)
  t.same(done, ['a', 'd', 'a', 'd', 'd'])
  for (const end of ends) end()
})

t.test('after a while in which the process did not run each is done once', async t => {
  const { every, pass } = clock(t)
  let count = 0
  const end = every(100, () => { count++ })
  pass(101, 60_000)
  t.equal(count, 1)
  end()
})

t.test('some time behind these', async t => {
  const { untilNext } = clock(t)
  t.same([0, 20, -20].map(afterMs => untilNext(1000, afterMs)), [900, 920, 880])
})
