'use strict'

const t = require('tap')
const fc = require('fast-check')
const { giftsOf, isGift, choose, receiverOf } = require('../../lib/core/sharing')

const MOST_A_DECISION = 1000

/** A worker by the loads of its connections. @param {number[]} loads */
const workerOf = (...loads) => loads.map(load => ({ load }))

/** @typedef {{ load: number }[]} Worker */

/** @param {Worker} worker */
const busyOf = worker => Math.min(1, worker.reduce((sum, { load }) => sum + load, 0))

/** @param {Worker[]} workers */
const decide = workers =>
  giftsOf(workers.map(worker => ({ busy: busyOf(worker), movable: busyOf(worker), lasting: worker.length })))

/** One decision, and all its moves. @param {Worker[]} workers @returns {number[]} how many each has given */
function round (workers) {
  const given = decide(workers).map((gift, i) => isGift(gift) ? [...choose(workers[i], gift).keys()] : [])
  given.forEach((connections, i) => { workers[i] = workers[i].filter(connection => !connections.includes(connection)) })
  given.forEach((connections, i) => {
    for (const connection of connections) {
      const others = workers.map((worker, at) => ({ at, busy: busyOf(worker), connections: worker.length }))
        .filter(({ at }) => at !== i)
      const { at } = receiverOf(others, connection.load)
      workers[at] = [...workers[at], connection]
    }
  })
  return given.map(({ length }) => length)
}

/** @param {Worker[]} workers @returns {number} rounds until nothing moves */
function settle (workers) {
  for (let rounds = 0; rounds < 60; rounds++) if (round(workers).every(count => count === 0)) return rounds
  throw new Error(`it moves for ever: ${JSON.stringify(workers.map(worker => worker.map(({ load }) => load)))}`)
}

const load = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, {
  weight: 2, arbitrary: fc.double({ min: 0, max: 0.02, noNaN: true })
}, { weight: 2, arbitrary: fc.double({ min: 0, max: 0.5, noNaN: true }) })
const fleet = fc.array(fc.array(load, { maxLength: 40 }), { minLength: 2, maxLength: 8 })
  .map(workers => workers.map(loads => workerOf(...loads)))

t.test('four busy connections of one worker go to the others but for one, and no quiet ones with them', async t => {
  const quiet = (/** @type {number} */ count) => Array.from({ length: count }, () => 0)
  const workers = [
    workerOf(0.24, 0.24, 0.24, 0.24, ...quiet(36)), ...Array.from({ length: 4 }, () => workerOf(...quiet(41)))
  ]
  t.same(round(workers), [3, 0, 0, 0, 0])
  t.same(workers.map(worker => worker.filter(({ load }) => load > 0).length), [1, 1, 1, 1, 0])
  t.same(round(workers), [0, 0, 0, 0, 0])
})

t.test('where one connection makes all the load it stays, and others that make some leave', async t => {
  t.same(round([workerOf(0.9), workerOf(0)]), [0, 0])
  const workers = [workerOf(0.6, 0.1, 0.1), workerOf(0, 0, 0)]
  t.same(round(workers), [2, 0])
  t.same(workers[0], [{ load: 0.6 }])
})

t.test('of the connections of a worker those go that fit; where none does, one that makes a little more; and no more than makes it', async t => {
  const chosen = (/** @type {number[]} */ loads, /** @type {number} */ load, /** @type {number} */ most) =>
    [...choose(workerOf(...loads), { load, most, count: 0 }).keys()].map(({ load }) => load)
  t.same(chosen([0.7, 0.2], 0.79, 0.54), [0.2], 'the first would be most of the difference')
  t.same(chosen([0.46, 0.03, 0.005, 0.005], 0.5, 0.6), [0.46])
  t.same(chosen([0.45, 0.5], 0.11, 0.54), [0.45])
  t.same(chosen([0.45, 0.06, 0.06], 0.12, 0.54), [0.06, 0.06])
  t.same(chosen([0.6, 0.6], 0.11, 0.54), [])
})

t.test('what cannot move is not asked for, and small differences move nothing', async t => {
  const gifts = giftsOf([{ busy: 0.9, movable: 0, lasting: 10 }, { busy: 0.1, movable: 0.1, lasting: 10 }])
  t.same(gifts.map(isGift), [false, false])
  t.equal(giftsOf([{ busy: 0.9, movable: 0.2, lasting: 10 }, { busy: 0.1, movable: 0.1, lasting: 10 }])[0].load, 0.2)
  t.same(giftsOf([{ busy: 0.55, movable: 0.5, lasting: 10 }, { busy: 0.4, movable: 0.4, lasting: 10 }])
    .map(isGift), [false, false])
  t.same(giftsOf([]), [])
})

t.test('connections that leave for their number are those that do the least, the oldest first; with hardly any load beside', async t => {
  const gift = { load: 0, most: 0, count: 2 }
  const worker = workerOf(0.3, 0, 0.2, 0, 0)
  t.same([...choose(worker, gift)], [[worker[1], false], [worker[3], false]])
  t.ok(choose(worker, gift).has(worker[1]))
  t.notOk(choose(worker, gift).has(worker[4]))
  t.equal(choose(workerOf(0.02, 0.02, 0.02, 0.02), { ...gift, count: 4 }).size, 2)
  t.equal(choose(workerOf(0.3, 0.3), gift).size, 1, 'one goes, whatever it does')
})

t.test('of connections whose protocol is the app\'s no more go than the gift says, and others go beside', async t => {
  const own = (/** @type {number[]} */ loads) => loads.map(load => ({ load, isForeign: true }))
  const idle = own([0, 0, 0])
  const some = choose([...idle, ...workerOf(0)], { load: 0, most: 0, count: 3, streams: 1 })
  t.same([...some.keys()], [idle[0], { load: 0 }])
  const busy = [...own([0.3, 0.2, 0]), ...workerOf(0.1)]
  const chosen = choose(busy, { load: 0.6, most: 0.6, count: 4, streams: 2 })
  t.same([...chosen], [[busy[0], true], [busy[1], true], [busy[3], true]])
  t.same([...choose(busy, { load: 0.6, most: 0.6, count: 4 }).keys()], [busy[3]])
  t.equal(choose(own([0.7]), { load: 0.6, most: 0.8, count: 0 }).size, 0)
})

t.test('by number: workers with about as many move none; of others each moves what it has above the mean', async t => {
  const countsOf = (/** @type {number[]} */ counts) =>
    giftsOf(counts.map(lasting => ({ busy: 0, movable: 0, lasting }))).map(({ count }) => count)
  t.same(countsOf([500]), [0])
  t.same(countsOf([10, 10]), [0, 0])
  t.same(countsOf([1, 0]), [0, 0])
  t.same(countsOf([0, 30, 0]), [0, 20, 0])
  t.same(countsOf([3, 3, 3, 3, 0]), [1, 1, 0, 0, 0], 'but a worker without any gets its share')
  t.same([countsOf([2, 2, 0]), countsOf([2, 0, 0]), countsOf([1, 1, 0])], [[1, 0, 0], [1, 0, 0], [0, 0, 0]])
  t.same(countsOf([15, 5, 3, 12, 15]), [5, 0, 0, 2, 5])
  t.same(countsOf([1, 1, 4]), [0, 0, 2])
  t.same(countsOf([4, 4, 5]), [0, 0, 0])
  t.same(countsOf([3, 3, 3, 3, 3, 3, 0, 0]), [1, 1, 1, 1, 0, 0, 0, 0], 'each of those without any')
  t.same(countsOf([90, 110]), [0, 0])
  t.same(countsOf([11, 10, 9, 10, 10]), [0, 0, 0, 0, 0], 'no worker moves connections where the fullest is hardly above the mean')
  t.same(countsOf([10_000, 0]), [1000, 0], 'so many at a time')
})

t.test('a connection without load goes to the least connected worker, one with load to the least busy', async t => {
  const workers = [{ busy: 0.9, connections: 1 }, { busy: 0.1, connections: 9 }, { busy: 0.12, connections: 8 }]
  t.equal(receiverOf(workers, 0), workers[0])
  t.equal(receiverOf(workers, 0.1), workers[2], 'loads that hardly differ are equal')
  t.equal(receiverOf(workers.slice(0, 2), 0.1), workers[1])
  const resting = { busy: 0, connections: 0, isResting: true }
  t.equal(receiverOf([resting, ...workers], 0.1), workers[2], 'one that rests gets none that makes load')
  t.equal(receiverOf([resting, ...workers], 0), resting)
  t.equal(receiverOf([resting], 0.1), resting, 'unless all rest')
})

t.test('workers that rest give all that makes load, and the others are even among themselves, in load and in number', async t => {
  const gifts = giftsOf([
    { busy: 0.5, movable: 0.5, lasting: 25 }, { busy: 0.2, movable: 0.2, lasting: 5 },
    { busy: 0.3, movable: 0.3, lasting: 10, isResting: true },
    { busy: 0.004, movable: 0.004, lasting: 0, isResting: true }, { busy: 0.2, movable: 0, lasting: 2, isResting: true }
  ])
  t.same(gifts.map(({ load }) => load), [0, 0, 0.3, 0, 0], 'the mean is that of the load on those that are awake')
  t.same(gifts.map(({ count }) => count), [10, 0, 6, 0, 0])
  t.equal(gifts[2].most, 0.3, 'one connection may make all of it')
})

t.test('no decision moves more than a bound, nor what a worker does not have', async t => {
  fc.assert(fc.property(fleet, workers => {
    decide(workers).forEach((gift, i) => {
      const chosen = [...choose(workers[i], gift).keys()]
      if (chosen.length > MOST_A_DECISION || chosen.some(connection => !workers[i].includes(connection))) throw new Error(`${chosen.length} of ${workers[i].length}`)
    })
  }))
  t.equal(choose(Array.from({ length: 500 }, () => ({ load: 0.002 })), { load: 1, most: 1, count: 0 }).size, 256)
})

t.test('under a steady load the moves end, the busiest worker is never busier than before, and the loads are even as far as single connections allow', async t => {
  fc.assert(fc.property(fleet, workers => {
    const before = Math.max(...workers.map(busyOf))
    settle(workers)
    const busy = workers.map(busyOf)
    const mean = busy.reduce((sum, value) => sum + value) / busy.length
    if (Math.max(...busy) > Math.max(before, mean + 0.2) + 1e-9) throw new Error(`busier than before: ${before} ${busy}`)
    const late = busy.indexOf(Math.max(...busy))
    const smallest = Math.min(...workers[late].map(({ load }) => load).filter(load => load >= 0.0001))
    if (busy[late] > mean + 0.1 && smallest < 0.5 * (busy[late] - Math.min(...busy))) throw new Error(`${busy}: ${smallest} could go`)
  }), { numRuns: 1000 })
  t.pass()
})

t.test('a storm of connections on one worker is spread evenly, by so many a decision', async t => {
  fc.assert(fc.property(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 100, max: 5000 }), (count, connections) => {
    const workers = Array.from({ length: count }, (_, i) =>
      workerOf(...Array.from({ length: i === 0 ? connections : 0 }, () => 0)))
    settle(workers)
    const counts = workers.map(({ length }) => length)
    if (Math.max(...counts) > Math.max(1.15 * connections / count, connections / count + 1)) throw new Error(`uneven: ${counts}`)
  }), { numRuns: 20 })
  t.pass()
})

t.test('what a worker gives, at each bound', async t => {
  const gift = (/** @type {number} */ busy, /** @type {number} */ movable, /** @type {number} */ least) =>
    giftsOf([{ busy, movable, lasting: 3 }, { busy: least, movable: least, lasting: 1 }])[0]
  t.equal(gift(0.35, 0.35, 0.15).load, 0, 'so much above the mean is not noticed')
  t.equal(gift(0.37, 0.37, 0.15).count, 0, 'nor is one connection more than the mean')
  t.equal(gift(0.9, 0.003, 0.1).load, 0.003, 'one that does not rest gives little, too')
  t.equal(Math.round(1000 * gift(0.9, 0.9, 0.1).most), 480, 'but no connection that makes most of the difference')
  t.ok(isGift({ load: 0, most: 0, count: 1 }))
})

t.test('what makes a gift, at each bound', async t => {
  const chosen = (/** @type {number[]} */ loads, /** @type {any} */ gift) =>
    [...choose(workerOf(...loads), { count: 0, ...gift })].map(([{ load }, isForLoad]) => isForLoad ? load : -load)
  t.same(chosen([0.5], { load: 0.5, most: 0.5 }), [0.5])
  t.same(chosen([0.9, 0.05], { load: 1, most: 1 }), [0.9], 'nine tenths are enough')
  t.same(chosen([0.45, 0.5], { load: 0.11, most: 0.45 }), [0.45])
  t.same(chosen([0.3, 0.08], { load: 0.2, most: 0.5 }), [0.08, 0.3], 'one that makes more, where the others do not make half')
  t.same(chosen([0.3, 0.12], { load: 0.2, most: 0.5 }), [0.12])
  t.same(chosen([0.02, 0.03, 0.04], { load: 0, most: 0, count: 3 }), [-0.02, -0.03], 'so much load may leave beside the number')
})
