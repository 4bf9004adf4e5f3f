'use strict'

/** What goes on when a primary is killed, or replaced: generations, counts of the status and counters of /metrics. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { scrape } = require('../support/admin')
const { controlRoom } = require('../support/control')
const { freePort, startCli, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { skip: noFork } = require('../support/mold')
const { becomesTrue, livingOfGroup } = require('../support/processes')

const WORKERS = 2
const COUNTER = /^recycle_\w+_(?:total|count|sum|bucket)(?:\{|$)/

/** Scrapes without a pause, over all primaries. @param {number} port */
class Scrapes {
  /** @type {Map<string, number>[]} */
  all = []
  isOver = false

  constructor (port) {
    this.ended = (async () => {
      while (!this.isOver) {
        await scrape(port).then(metrics => this.all.push(metrics), () => {}) // there is no primary
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    })()
  }

  /** @returns {Promise<string[]>} counters that have gone back */
  async stop () {
    this.isOver = true
    await this.ended
    const most = new Map()
    return this.all.flatMap((metrics, i) => [...metrics].flatMap(([name, value]) => {
      const before = most.get(name) ?? 0
      most.set(name, Math.max(before, value))
      return COUNTER.test(name) && value < before ? [`${name}: ${before}, then ${value} in scrape ${i}`] : []
    }))
  }
}

for (const [what, options, skip] of /** @type {const} */ ([
  ['spawned', [], false], ['forked', ['--fork', 'mold'], noFork], ['sticky', ['--sticky', 'ip'], false], ['revived', ['--revive'], false]
])) {
  t.test(`generations and counts go on when the primary is killed, upgraded, and killed again: ${what}`, { skip }, async t => {
    const folder = t.testdir({})
    const journal = path.join(folder, 'journal.ndjson')
    const room = controlRoom(t)
    const admin = await freePort()
    const args = ['-w', String(WORKERS), '-i', '50ms', '--stop-linger', '100ms', '--journal', journal, '--admin', String(admin), ...options, path.join(FIXTURES, 'plain.js')]
    const all = (/** @type {string} */ event) => fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1).filter(Boolean).map(line => JSON.parse(line)).filter(line => line.event === event)
    const status = async () => JSON.parse((await room.call(['status', '--json'])).stdout)
    const first = await startCli(t, args, { env: room.env })
    const { port } = first
    await first.events.until('fleet.ready')
    const load = new Load({ port, connections: 6, thinkMs: 20 })
    const scrapes = new Scrapes(admin)
    /** @type {Set<number>} */
    const primaries = new Set()
    t.teardown(async () => {
      scrapes.isOver = true
      await load.stop()
      for (const pid of primaries) for (const one of livingOfGroup(pid)) process.kill(one, 'SIGKILL')
    })
    const next = async (/** @type {number} */ deaths) => {
      const { pid: before, totals: { recycles } } = await status()
      await load.after(20)
      process.kill(before, 'SIGKILL')
      t.ok(await becomesTrue(() => all('worker.orphaned').filter(({ oldPid }) => oldPid === before).length >= WORKERS))
      if (what !== 'revived') await startCli(t, args, { env: { ...room.env, PORT: String(port) } })
      t.ok(await becomesTrue(() => all('recycled').filter(({ reason }) => reason === 'adopted').length === deaths * WORKERS, 30_000))
      t.match(await status(), { totals: { recycles: recycles + WORKERS } })
      primaries.add((await status()).pid)
      await load.after(20)
    }
    await load.after(20)
    t.match(await room.recycle(['reload']), { code: 0 })
    t.match(await status(), { workers: Array(WORKERS).fill({ generation: 1, recycles: 1, lastReason: 'reload' }) })
    await next(1)
    t.same(all('worker.spawn').filter(({ adopted }) => adopted).map(({ slot, generation }) => ({ slot, generation })).sort((a, b) => a.slot - b.slot), [{ slot: 0, generation: 1 }, { slot: 1, generation: 1 }])
    t.match(await status(), { workers: Array(WORKERS).fill({ generation: 2, recycles: 2, lastReason: 'adopted' }) })
    t.match(await room.recycle(['upgrade']), { code: 0 })
    t.match(await status(), { workers: Array(WORKERS).fill({ generation: 3, recycles: 3, lastReason: 'upgrade' }), totals: { recycles: 3 * WORKERS } })
    primaries.add((await status()).pid)
    await next(2)
    t.match(await room.recycle(['reload']), { code: 0 })
    t.match(await status(), { workers: Array(WORKERS).fill({ generation: 5, recycles: 5, lastReason: 'reload' }), totals: { recycles: 5 * WORKERS } })
    t.same(all('fleet.reload').map(({ generation }) => generation), [1, 5])
    const { requests, failures, anew } = await load.stop()
    t.same([failures, anew], [[], []])
    t.ok(await becomesTrue(async () => {
      const metrics = await scrape(admin)
      return [0, 1].reduce((sum, slot) => sum + Number(metrics.get(`recycle_worker_requests_total{slot="${slot}"}`)), 0) >= requests
    }), `${requests} requests are counted`)
    t.same(await scrapes.stop(), [], `${scrapes.all.length} scrapes`)
    const last = scrapes.all.at(-1)
    t.equal(last?.get('recycle_worker_ready_duration_seconds_count'), all('worker.spawn').filter(({ adopted }) => !adopted).length, 'an adopted worker has been ready all along')
    for (const [reason, count] of Object.entries({ reload: 2, adopted: 2, upgrade: 1 })) t.equal(last?.get(`recycle_recycles_total{reason="${reason}"}`), count * WORKERS, reason)
    t.match(await room.recycle(['stop']), { code: 0 })
  })
}
