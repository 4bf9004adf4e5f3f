'use strict'

/**
 * The faults of a campaign. Each is done to a fleet under load, and says from when to when it was, and which workers' connections it
 * may end: all others must notice nothing.
 *
 * @typedef {import('./fleet').CampaignFleet} CampaignFleet
 * @typedef {{ fleet: CampaignFleet, random: () => number }} Scene
 * @typedef {{ pids: number[], isFleet?: boolean }} Costs
 * @typedef {object} Kind
 * @property {string} name
 * @property {string[]} [variants] those of the fleet; without them, any
 * @property {(fleet: CampaignFleet) => boolean} [needs] whether it can be done here
 * @property {boolean} [isSlow] it takes so long that it is left out of the short campaign
 * @property {(scene: Scene) => Promise<Costs>} act
 */

const { spawn, execFileSync } = require('node:child_process')
const fs = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')

const MOMENTS = ['worker.condemn', 'worker.spawn', 'worker.ready', 'worker.drain', 'worker.drain', 'worker.retire']
const AGAIN = /** @type {const} */ (['SIGHUP', 'SIGTTIN', 'SIGTTOU', 'SIGWINCH', 'SIGCONT', 'SIGURG', 'SIGHUP'])
const VERBS = [['recycle', { target: '0' }], ['recycle', { target: '1' }], ['recycle', { target: 'all' }], ['gc', { target: '2' }], ['reload', {}], ['scale', { workers: '4' }], ['scale', { workers: '2' }], ['scale', { workers: '3' }], ['status', {}]]
const MOST_MS = 15_000 // for the step that a fault waits for

/** @template T @param {() => number} random @param {readonly T[]} list */
const oneOf = (random, list) => list[Math.floor(random() * list.length)]

/**
 * A moment: of a fleet that is at rest, or some ms after a step of a recycle that is begun for it.
 *
 * @param {Scene} scene
 * @returns {Promise<{ victim: number, other: number, old: number, recycled: Promise<unknown> }>}
 */
async function moment ({ fleet, random }) {
  const serving = (await fleet.workers()).filter(({ state }) => state === 'ready')
  const { slot, pid: old } = oneOf(random, serving)
  const other = serving.find(worker => worker.pid !== old)?.pid ?? old
  if (random() < 0.3) return { victim: old, other, old, recycled: Promise.resolve() }
  const event = oneOf(random, MOMENTS)
  const isGc = random() < 0.2
  const reached = isGc ? next(fleet, 'worker.out-of-rotation') : next(fleet, event)
  const recycled = fleet.call(isGc ? 'gc' : 'recycle', { target: String(slot) })
  await Promise.race([reached, recycled, sleep(MOST_MS)])
  await sleep(random() ** 2 * 80)
  const replacement = fleet.events.all('worker.spawn').at(-1)?.pid ?? old
  return { victim: oneOf(random, [old, replacement, other]), other, old, recycled }
}

/** @param {CampaignFleet} fleet @param {string} event */
const next = (fleet, event) => fleet.events.until(event, { count: fleet.events.all(event).length + 1, timeoutMs: MOST_MS }).catch(() => {})

/** @param {NodeJS.Signals} signal @returns {Kind['act']} */
const killing = signal => async scene => {
  const { victim, recycled } = await moment(scene)
  scene.fleet.signal(victim, signal)
  await recycled
  return { pids: [victim] }
}

/** @param {string} name @param {{ costs?: boolean, lastsMs?: number, untilGone?: boolean }} [how] `costs`: it ends connections of its worker; `untilGone`: it shows when the worker leaves @returns {Kind} */
const deed = (name, { costs = true, lastsMs = 0, untilGone = false } = {}) => ({
  name: `a worker ${name}`,
  variants: ['surge', 'standby', 'drain first', 'without hand-off', 'requests move'],
  act: async scene => {
    const { old, other, recycled } = await moment(scene)
    const victim = oneOf(scene.random, [old, other])
    scene.fleet.deed(victim, name)
    await sleep(lastsMs)
    await recycled
    if (untilGone) await scene.fleet.call('recycle', { target: String(victim) })
    return { pids: costs ? [victim] : [] }
  }
})

/** @param {string} name @param {boolean} isSlow @returns {Kind} */
const atBoot = (name, isSlow) => ({
  name: `a replacement ${name}`,
  isSlow,
  variants: ['surge', 'drain first', 'without hand-off', 'requests move'],
  act: async ({ fleet }) => {
    fleet.boot(name)
    await Promise.race([fleet.call('recycle', { target: '1' }), sleep(MOST_MS)])
    fleet.boot(null)
    return { pids: [] }
  }
})

/** @type {Kind[]} */
const KINDS = [
  { name: 'SIGKILL of a worker', act: killing('SIGKILL') },
  { name: 'SIGSEGV of a worker', act: killing('SIGSEGV') },
  {
    name: 'SIGSTOP of a worker, and SIGCONT later',
    act: async scene => {
      const { victim, recycled } = await moment(scene)
      scene.fleet.signal(victim, 'SIGSTOP')
      await sleep(oneOf(scene.random, [20, 300, 1200]) * (0.5 + scene.random()))
      scene.fleet.signal(victim, 'SIGCONT')
      await recycled
      return { pids: [] }
    }
  },
  deed('throws'),
  deed('exits'),
  deed('spins', { lastsMs: 2500 }),
  deed('stalls', { costs: false, lastsMs: 700 }),
  deed('closes its server'),
  deed('cuts its channel'),
  deed('swallows SIGTERM', { costs: false, untilGone: true }),
  deed('throws on a drain', { untilGone: true }),
  deed('has a child', { costs: false }),
  deed('has no descriptor left', { costs: false, lastsMs: 600 }),
  deed('floods the primary', { costs: false, lastsMs: 1100 }),
  deed('sends 1 MB messages', { costs: false, lastsMs: 600 }),
  deed('sends messages like ours', { lastsMs: 600 }),
  deed("sends messages like cluster's", { lastsMs: 300 }),
  deed('writes into its channel', { lastsMs: 100 }),
  atBoot('dies at once', false),
  atBoot('never listens', true),
  atBoot('listens elsewhere', true),
  {
    name: 'SIGSTOP of the primary, and SIGCONT later',
    act: async scene => {
      const { recycled } = await moment(scene)
      scene.fleet.signal(scene.fleet.pid, 'SIGSTOP')
      await sleep(200 + scene.random() * 800)
      scene.fleet.signal(scene.fleet.pid, 'SIGCONT')
      await recycled
      return { pids: [] }
    }
  },
  {
    name: 'no descriptor left in the primary',
    variants: ['surge', 'drain first', 'requests move'],
    act: async ({ fleet, random }) => {
      const used = Math.max(...fs.readdirSync(`/proc/${fleet.pid}/fd`).map(Number)) + 1
      const limit = (/** @type {string} */ soft) => execFileSync('prlimit', ['--pid', String(fleet.pid), `--nofile=${soft}:`])
      limit(String(used + Math.floor(random() * 4)))
      await Promise.race([fleet.call('recycle', { target: '2' }), sleep(1500)])
      limit('1024')
      return { pids: [] }
    }
  },
  {
    name: 'a full disk under the journal',
    needs: ({ hasDisk }) => hasDisk,
    act: async ({ fleet, random }) => {
      const free = fleet.fillDisk()
      const recycled = fleet.call('recycle', { target: '1' })
      await sleep(500 + random() * 1000)
      free()
      await recycled
      return { pids: [] }
    }
  },
  {
    name: 'the journal is moved away',
    act: async ({ fleet, random }) => {
      const recycled = fleet.call('recycle', { target: '0' })
      await sleep(random() * 300)
      fleet.moveJournal()
      await recycled
      await sleep(1500)
      return { pids: [] }
    }
  },
  {
    name: 'a machine that is busy',
    act: async scene => {
      const busy = [0, 1].map(() => spawn(process.execPath, ['-e', 'while (true);'], { stdio: 'ignore' }))
      const { recycled } = await moment(scene)
      await recycled
      for (const child of busy) child.kill('SIGKILL')
      return { pids: [] }
    }
  },
  {
    name: '20 random signals to the primary',
    act: async ({ fleet, random }) => {
      for (let i = 0; i < 20; i++) {
        fleet.signal(fleet.pid, oneOf(random, AGAIN))
        await sleep(random() * 30)
      }
      await fleet.call('scale', { workers: '3' })
      return { pids: [] }
    }
  },
  {
    name: '20 verbs at a time',
    act: async ({ fleet, random }) => {
      await Promise.all(Array.from({ length: 20 }, async () => {
        await sleep(random() * 300)
        const [verb, args] = oneOf(random, VERBS)
        await Promise.race([fleet.call(/** @type {string} */ (verb), /** @type {any} */ (args)), sleep(MOST_MS)])
      }))
      await fleet.call('scale', { workers: '3' })
      return { pids: [] }
    }
  },
  {
    name: 'SIGKILL of the mold',
    variants: ['forked workers'],
    act: async ({ fleet, random }) => {
      const { pid } = fleet.events.all('mold.ready').at(-1) ?? {}
      const recycled = fleet.call('recycle', { target: '0' })
      await sleep(random() * 100)
      if (pid) fleet.signal(pid, 'SIGKILL')
      await recycled
      return { pids: [] }
    }
  },
  {
    name: 'SIGKILL of the primary',
    act: async scene => {
      await moment(scene)
      scene.fleet.signal(scene.fleet.pid, 'SIGKILL')
      return { pids: [], isFleet: true }
    }
  }
]

module.exports = { KINDS, oneOf }
