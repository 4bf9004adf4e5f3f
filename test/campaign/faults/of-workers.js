'use strict'

/** What happens to workers: signals, and what their app does. */

const { setTimeout: sleep } = require('node:timers/promises')
const { moment, oneOf, longEnough } = require('./moment')

/** @typedef {import('.').Kind} Kind */

/** @param {NodeJS.Signals} signal @returns {Kind['act']} */
const killing = signal => async scene => {
  const { victim, recycled } = await moment(scene)
  scene.fleet.signal(victim, signal)
  await recycled
  return { pids: [victim] }
}

/**
 * @param {string} name
 * @param {{ costs?: boolean, lastsMs?: number, untilGone?: boolean }} [how] `costs`: it ends connections of its worker;
 *   `untilGone`: it shows when the worker leaves
 * @returns {Kind}
 */
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
    await Promise.race([fleet.call('recycle', { target: '1' }), longEnough()])
    fleet.boot(null)
    return { pids: [] }
  }
})

/**
 * @param {string} name
 * @param {(random: () => number, mold: { fleet: import('.').CampaignFleet, pid: number }) => unknown} hit
 * @returns {Kind}
 */
const ofMold = (name, hit) => ({
  name,
  variants: ['forked workers'],
  act: async ({ fleet, random }) => {
    const { pid } = fleet.events.all('mold.spawn').at(-1) ?? {}
    const begins = fleet.call(...oneOf(random, /** @type {[string, any][]} */ ([['recycle', { target: '0' }], ['reload', {}], ['recycle', { target: 'all' }]])))
    await sleep(random() * 100)
    if (pid) await hit(random, { fleet, pid })
    await Promise.race([begins, longEnough()])
    await fleet.call('recycle', { target: '1' })
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
  deed('has a child that holds its sockets', { costs: false, untilGone: true }),
  deed('has no descriptor left', { costs: false, lastsMs: 600 }),
  deed('floods the primary', { costs: false, lastsMs: 1100 }),
  deed('sends 1 MB messages', { costs: false, lastsMs: 600 }),
  deed('sends messages like ours', { lastsMs: 600 }),
  deed('sends messages of ours that make no sense', { lastsMs: 300 }),
  deed('has cluster open a TCP server', { lastsMs: 300 }),
  deed('sends a connection as a server', { costs: false, lastsMs: 300 }),
  deed("sends messages like cluster's", { lastsMs: 300 }),
  deed('writes into its channel', { lastsMs: 100 }),
  atBoot('dies at once', false),
  atBoot('exits', false),
  atBoot('never listens', true),
  atBoot('listens elsewhere', true),
  ofMold('SIGKILL or SIGSEGV of the mold', (random, { fleet, pid }) => { fleet.signal(pid, oneOf(random, /** @type {const} */ (['SIGKILL', 'SIGSEGV']))) }),
  ofMold('SIGSTOP of the mold, and SIGCONT later or never', async (random, { fleet, pid }) => {
    fleet.signal(pid, 'SIGSTOP')
    if (random() < 0.5) return
    await sleep(random() * 3000)
    fleet.signal(pid, 'SIGCONT')
  })
]

module.exports = { KINDS }
