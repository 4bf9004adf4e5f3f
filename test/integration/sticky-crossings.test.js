'use strict'

/**
 * `--sticky` with each other feature, and sessions that count: each response must have the count that its client
 * expects, and no request fail. In the suite these are the crossings that were once wrong; RECYCLE_LONG has all, with
 * more users.
 */

const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { CountingUsers, habitsOf, HABITS } = require('../support/counting')
const { startFleet, sumOfEnds } = require('../support/fleet')

const IS_LONG = extent({ short: 0, long: 1 }) === 1
const USERS = extent({ short: 12, long: 48 })
const WORKERS = extent({ short: 2, long: 3 })
t.setTimeout(extent({ short: 120_000, long: 1_200_000 }))

/** @typedef {(supervisor: any, folder: string) => Promise<unknown>} Disturbance */

/** @param {any} supervisor @param {(slot: number) => Promise<unknown>} act */
const eachSlot = async (supervisor, act) => { for (const slot of slotsOf(supervisor)) await act(slot) }

/** @param {any} supervisor @returns {number[]} without the standbys */
const slotsOf = supervisor => supervisor.status().workers.map((/** @type {any} */ { slot }) => slot)
  .filter((/** @type {number | null} */ slot) => slot !== null)

/** @type {Record<string, Disturbance>} */
const DISTURBANCES = {
  'each worker is recycled': supervisor => eachSlot(supervisor, slot => supervisor.recycle(slot)),
  'a reload': supervisor => supervisor.reload(),
  'all are recycled at once': supervisor => Promise.all(slotsOf(supervisor).map(slot => supervisor.recycle(slot))),
  'collections out of rotation': supervisor => eachSlot(supervisor, slot => supervisor.gc(slot)),
  'a heap snapshot': (supervisor, folder) => supervisor.heapdump(0, { file: path.join(folder, 'slot-0.heapsnapshot') }),
  'the fleet is scaled down and up': async supervisor => { for (const workers of [2, 4, 3]) await supervisor.scale(workers) },
  'a collection, and a recycle meanwhile': async supervisor => Promise.allSettled([supervisor.gc(0), supervisor.recycle(0), supervisor.recycle(1)])
}

const POLLS = [{ pollMs: 2500 }, { pollMs: 2500, thinkMs: 20 }, {}, { ms: 1500 }]
const SLOW_POSTS = [{ ms: 1200, method: 'POST' }, {}, { connections: 2, thinkMs: 30 }]

/**
 * `mostMs`: what a request may take beyond its own time; on a busy machine a replacement takes a second to boot.
 *
 * @typedef {object} Cell
 * @property {Record<string, any>} with options
 * @property {string} when
 * @property {import('../support/counting').Habit[]} [habits]
 * @property {number} [mostMs]
 * @property {boolean} [isLong] for RECYCLE_LONG alone
 */

/** @type {Cell[]} */
const CELLS = [
  { with: {}, when: 'collections out of rotation', mostMs: 5000 },
  { with: { maxSurge: 0, maxUnavailable: 1 }, when: 'each worker is recycled', mostMs: 8000 },
  { with: { drainTimeout: '1s' }, when: 'all are recycled at once', habits: POLLS },
  { with: { drainTimeout: '100ms' }, when: 'a reload' },
  { with: {}, when: 'a collection, and a recycle meanwhile', isLong: true },
  { with: {}, when: 'each worker is recycled', isLong: true },
  { with: {}, when: 'a reload', isLong: true },
  { with: {}, when: 'all are recycled at once', isLong: true },
  { with: {}, when: 'a heap snapshot', mostMs: 10_000, isLong: true },
  { with: {}, when: 'the fleet is scaled down and up', isLong: true },
  { with: { workers: '2..4' }, when: 'each worker is recycled', isLong: true },
  { with: { standby: 1 }, when: 'each worker is recycled', isLong: true },
  { with: { standby: 1, maxSurge: 0, maxUnavailable: 1 }, when: 'a reload', isLong: true },
  { with: { fork: 'mold' }, when: 'each worker is recycled', isLong: true },
  { with: { fork: 'mold', maxSurge: 0, maxUnavailable: 1 }, when: 'a reload', isLong: true },
  { with: { fork: 'mold' }, when: 'the fleet is scaled down and up', isLong: true },
  { with: { health: '/healthz', healthPeriod: '100ms' }, when: 'a reload', isLong: true },
  { with: { health: '/healthz', healthPeriod: '100ms' }, when: 'collections out of rotation', isLong: true },
  { with: { onBudget: 'collect', maxRss: '1GiB' }, when: 'collections out of rotation', isLong: true },
  { with: { maxSurge: 0, maxUnavailable: 2 }, when: 'all are recycled at once', mostMs: 8000, isLong: true },
  { with: { maxSurge: 0, maxUnavailable: 1, drainTimeout: '1s' }, when: 'a reload', habits: POLLS, mostMs: 8000, isLong: true },
  { with: { replay: 'off', drainTimeout: '2s' }, when: 'a reload', habits: SLOW_POSTS, isLong: true },
  { with: { replayAfter: '0' }, when: 'a reload', habits: POLLS, isLong: true },
  { with: { replayAfter: '0', maxSurge: 3 }, when: 'all are recycled at once', habits: POLLS, isLong: true },
  { with: { drainTimeout: '7s' }, when: 'all are recycled at once', habits: [{ ms: 6000 }, {}, { ms: 6000, method: 'POST' }], isLong: true },
  { with: { drainTimeout: '2s' }, when: 'all are recycled at once', habits: SLOW_POSTS, isLong: true },
  { with: { schedule: 'shared' }, when: 'each worker is recycled', isLong: true },
  { with: { prefix: true, memoryByRoute: true }, when: 'each worker is recycled', isLong: true },
  { with: { maxAge: '1s' }, when: 'a reload', isLong: true }
]

for (const { with: options, when, habits = HABITS, mostMs = Infinity, isLong = false } of CELLS) {
  if (isLong && !IS_LONG) continue
  const called = Object.entries(options).map(([name, value]) => `${name} ${value}`).join(', ') || 'defaults'
  const slow = habits === HABITS ? '' : ', with slow requests'
  t.test(`${called}: ${when}${slow}, and every session counts on`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'counting-sessions.js', { workers: WORKERS, sticky: 'cookie:sid', ...options })
    const users = await new CountingUsers(port, habitsOf(USERS, habits)).begin()
    await DISTURBANCES[when](supervisor, t.testdir())
    await users.answered()
    t.same(await users.stop(), [], `${users.requests} requests`)
    t.ok(users.longestMs < mostMs, `the longest took ${users.longestMs} ms more than its own time`)
    t.match(supervisor.status().totals, { misplaced: 0, lost: 0 })
    for (const recycled of events.all('recycled')) {
      t.match(recycled, { cut: 0, unacked: 0, unaccounted: 0, closedIdle: 0, lost: false })
      t.equal(sumOfEnds(recycled), recycled.connections, 'the account adds up')
    }
  })
}
