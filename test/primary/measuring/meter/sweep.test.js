'use strict'

const t = require('tap')
const { sweep } = require('../../../../lib/primary/measuring/meter/sweep')

t.test('every worker is read, in order, and sweep() resolves after all readings', async t => {
  const workers = Array.from({ length: 100 }, (_, i) => i)
  /** @type {number[]} */
  const begun = []
  let ended = 0
  await sweep(workers, async one => {
    begun.push(one)
    await new Promise(resolve => setTimeout(resolve, one % 7))
    ended++
  })
  t.same(begun, workers)
  t.equal(ended, 100)
})

t.test('no turn of the loop begins more than 32 readings, and a small fleet takes one turn', async t => {
  for (const [size, most] of [[100, 32], [33, 32], [32, 32], [5, 5], [0, 0]]) {
    /** @type {number[]} readings begun in each turn */
    const turns = [0]
    let isOver = false
    const turn = () => { if (!isOver) { turns.push(0); setImmediate(turn) } }
    setImmediate(turn)
    await sweep(Array.from({ length: size }), async () => { turns[turns.length - 1]++ })
    isOver = true
    t.equal(Math.max(...turns), most, `${size}`)
    t.equal(turns.reduce((sum, looks) => sum + looks), size)
  }
})

t.test('a failed reading rejects sweep()', async t => {
  await t.rejects(sweep([1, 2], async one => { if (one === 2) throw new Error('two') }), { message: 'two' })
})

t.test('a reading that fails while others have yet to begin rejects it too, and no rejection is unhandled', async t => {
  /** @type {unknown[]} */
  const unhandled = []
  const note = (/** @type {unknown} */ error) => unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.removeListener('unhandledRejection', note))
  const workers = Array.from({ length: 100 }, (_, i) => i)
  await t.rejects(sweep(workers, async one => { if (one % 40 === 0) throw new Error(`${one}`) }), { message: '0' })
  await new Promise(resolve => setTimeout(resolve, 10))
  t.same(unhandled, [])
})
