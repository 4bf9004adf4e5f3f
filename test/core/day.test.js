'use strict'

/**
 * Simulated hours of a fleet whose workers leak: a sample a second of each, its verdict, and what the plan makes of it.
 */

const t = require('tap')
const { makeSample } = require('../../lib/core/sample')
const { verdict } = require('../../lib/tables/reasons')
const { openWindow, pushSample } = require('../../lib/core/window')
const { extent } = require('../support/campaign')
const { FleetModel, firstSlots } = require('../support/fleet-model')
const { seeded } = require('../support/random')

const HOURS = extent({ short: 3, long: 24 })
const WORKERS = 3
const SECOND = 1000
const MIB = 1024 ** 2
const BOOT_MS = 2 * SECOND
const DRAIN_MS = 3 * SECOND
const BUDGET = { metric: /** @type {const} */ ('rss'), softBytes: 512 * MIB, hardBytes: 640 * MIB, samples: 2, maxRequests: null, maxAgeMs: null }

t.test(`in ${HOURS} simulated hours of leaking workers every verdict is due, none is missed, and never do fewer serve than there should be`, async t => {
  const random = seeded(33)
  const model = new FleetModel({
    slots: firstSlots(WORKERS), generation: 0, standbys: 0, maxSurge: 1, maxUnavailable: 0
  })
  /**
   * What a worker is like, and what is measured of it.
   *
   * @type {Map<any, { since: number, perSecond: number, window: import('../../lib/core/window').Window,
   *   overSince: number | null }>}
   */
  const lives = new Map()
  /** When a step that has begun ends. @type {Map<any, number>} */
  const until = new Map()
  model.onStep = ({ type, worker }) => until.set(worker, model.now + (type === 'starts' ? BOOT_MS : DRAIN_MS))
  const count = { verdicts: 0, recycles: 0, fewest: WORKERS, longestOver: 0, most: 0 }
  /** @type {string[]} */
  const wrong = []
  model.settle()
  for (; model.now < HOURS * 3600 * SECOND; model.now += SECOND) {
    for (const [worker, at] of until) {
      if (at > model.now) continue
      until.delete(worker)
      if (worker.state === 'spawning') {
        model.happenTo('comesUp', worker)
        lives.set(
          worker, { since: model.now, perSecond: (0.05 + random()) * MIB, window: openWindow(), overSince: null }
        )
      } else {
        model.happenTo('drained', worker)
        lives.delete(worker)
        count.recycles++
      }
    }
    for (const { incumbent } of model.list()) {
      const life = lives.get(incumbent)
      if (!life) continue
      const ageMs = model.now - life.since
      const rssBytes = Math.round(60 * MIB + life.perSecond * ageMs / SECOND + random() * 20 * MIB)
      life.window = pushSample(life.window, makeSample({ rssBytes, pssBytes: null, ussBytes: null, meter: 'statm' }, { ageMs, requests: 0, silentMs: 0, requested: null }), BUDGET.samples)
      const reason = verdict(life.window, BUDGET)
      count.verdicts++
      const isOver = rssBytes > BUDGET.softBytes
      const isDue = rssBytes > BUDGET.hardBytes || (isOver && life.overSince !== null)
      life.overSince = isOver ? life.overSince ?? model.now : null
      if ((reason !== null) !== isDue) wrong.push(`${reason} at ${rssBytes} after ${ageMs} ms`)
      if (reason !== null && incumbent.reason === null) {
        Object.assign(incumbent, { reason, condemnedAt: model.now, bytes: rssBytes })
      }
      if (incumbent.reason !== null) count.longestOver = Math.max(count.longestOver, model.now - incumbent.condemnedAt)
    }
    model.settle()
    if (lives.size >= WORKERS) count.fewest = Math.min(count.fewest, model.serving())
    count.most = Math.max(count.most, model.living)
  }
  t.same(wrong, [])
  t.equal(count.fewest, WORKERS)
  t.equal(count.most, WORKERS + 1)
  t.ok(count.longestOver <= WORKERS * (BOOT_MS + DRAIN_MS + SECOND), `a worker waits ${count.longestOver} ms for its turn at most`)
  t.ok(count.verdicts >= 0.99 * WORKERS * HOURS * 3600 && count.recycles > 4 * HOURS, `${count.verdicts} verdicts, ${count.recycles} recycles`)
})
