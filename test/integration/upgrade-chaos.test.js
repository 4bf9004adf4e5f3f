'use strict'

/**
 * One of the two primaries is killed at a random moment of an upgrade under load. The service goes on by the other one;
 * where that cannot be (the new one had not been given the sockets yet, or the old one had left), the workers finish
 * what is in flight and exit. No process is left in the end.
 *
 * RECYCLE_SEED repeats the random choices of a run.
 */

const path = require('node:path')
const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { extent } = require('../support/campaign')
const { get } = require('../support/client')
const { FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { becomesTrue, processes } = require('../support/processes')
const { seeded } = require('../support/random')
const { startUpgradable, kill } = require('../support/upgrade')

const TRIES = extent({ short: 4, long: 50 })
const WORKERS = 2
const DEATH_MS = 3000 // until the last client has noticed, on a busy machine
const RESETS = ['ECONNRESET', 'EPIPE']
/** Each with the count of its first line that is of the upgrade. */
const MOMENTS = Object.entries({ 'worker.drain': 1, 'worker.standby': 1, 'fleet.upgraded': 1, recycled: 1, 'fleet.start': 2, 'worker.spawn': WORKERS + 1, 'fleet.upgrade': 1 })

const isAlive = (/** @type {number} */ pid) => processes().some(process => process.pid === pid && process.state !== 'Z')

t.setTimeout(60_000 + TRIES * 30_000)

const seed = Number(process.env.RECYCLE_SEED ?? 4)
t.comment(`RECYCLE_SEED=${seed}`)
const random = seeded(seed)

for (let i = 0; i < TRIES; i++) {
  const victim = i % 2 === 0 ? 'old' : 'new'
  const [moment, count] = MOMENTS[TRIES < MOMENTS.length ? Math.floor(i / 2) : Math.floor(random() * MOMENTS.length)]
  const delayMs = Math.round(random() ** 2 * 100)
  t.test(`${i}: the ${victim} primary is killed ${delayMs} ms after ${moment}`, async t => {
    const { port, child, events, areGone } = await startUpgradable(t, ['--control', 'none', path.join(FIXTURES, 'misbehaves.js')], { workers: WORKERS })
    const loads = [new Load({
      port, connections: 20, thinkMs: 20
    }), new Load({ port, connections: 2, keepAlive: false, thinkMs: 10 })]
    t.teardown(() => Promise.all(loads.map(load => load.stop())))
    await loads[0].after(50)
    child.kill('SIGUSR2')
    const { pid } = await events.until('fleet.upgrade')
    const slow = Array.from({ length: 4 }, () => get(port, '/slow?ms=700'))
    const reached = await Promise.race([events.until(moment, { count }), events.until('fleet.upgrade-failed').then(line => line, () => null)])
    t.not(reached?.event, 'fleet.upgrade-failed', `nothing fails before that: ${reached?.why}`)
    await after(delayMs)
    const killed = victim === 'old' ? child.pid : pid
    const hasLeft = () => events.all('fleet.left').length > 0
    const killedAt = Date.now()
    kill(killed, 'SIGKILL')

    for (const answer of await Promise.all(slow)) t.match(answer, { status: 200 }, 'what is in flight is answered')
    const survivor = victim === 'old' ? pid : child.pid
    t.ok(await becomesTrue(() => !isAlive(killed)))
    const led = () => victim === 'old' ? events.all('fleet.upgraded').length > 0 : ['fleet.resumed', 'fleet.upgrade-failed'].some(event => events.all(event).length > 0)
    t.ok(await becomesTrue(() => !isAlive(survivor) || led()), 'the other one runs the fleet, or ends')
    if (isAlive(survivor)) {
      await loads[1].after(20)
      for (let n = 0; n < 5; n++) t.match(await get(port), { status: 200 }, 'the service goes on')
    } else {
      t.ok(victim === 'new' ? await becomesTrue(hasLeft) : events.all('worker.spawn').length === WORKERS, 'it had left, or had been given no socket')
    }
    const isServed = isAlive(survivor)
    const counts = await Promise.all(loads.map(load => load.stop()))
    const failures = counts.flatMap(({ failures }) => failures)
    // A connection that the killed primary was handing over is closed, and so are idle ones, soon, by its workers: they
    // have no primary.
    const isTheirs = (/** @type {any} */ { error, t }) =>
      RESETS.includes(error) && t >= killedAt && t <= killedAt + DEATH_MS
    if (isServed) t.same(failures.filter(failure => !isTheirs(failure)), [], 'no other connection is reset, none is refused, and no client waits')
    t.comment(`${isServed ? 'served on' : 'ended'}; ${failures.length} of ${counts[0].requests + counts[1].requests} failed`)
    kill(survivor, 'SIGTERM')
    t.ok(await areGone(), 'no process is left')
  })
}
