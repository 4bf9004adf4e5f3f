'use strict'

/** What happens to the primary: signals, verbs, files that it writes, and what it runs out of. */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const { moment, oneOf, longEnough } = require('./moment')

/** @typedef {import('.').Kind} Kind */

const SIGNALS = /** @type {const} */ (['SIGHUP', 'SIGTTIN', 'SIGTTOU', 'SIGWINCH', 'SIGCONT', 'SIGURG', 'SIGHUP'])
const VERBS = [['recycle', { target: '0' }], ['recycle', { target: '1' }], ['recycle', { target: 'all' }], ['gc', { target: '2' }], ['reload', {}], ['scale', { workers: '4' }], ['scale', { workers: '2' }], ['scale', { workers: '3' }], ['status', {}]]

/** @param {number} count @returns {Kind['act']} */
const manySignals = count => async ({ fleet, random }) => {
  for (let i = 0; i < count; i++) {
    fleet.signal(fleet.pid, oneOf(random, SIGNALS))
    await sleep(random() * 30)
  }
  await fleet.call('scale', { workers: '3' })
  return { pids: [] }
}

/** @param {number} count @param {number} withinMs @returns {Kind['act']} */
const manyVerbs = (count, withinMs) => async ({ fleet, random }) => {
  await Promise.all(Array.from({ length: count }, async () => {
    await sleep(random() * withinMs)
    const [verb, args] = oneOf(random, VERBS)
    await Promise.race([fleet.call(/** @type {string} */ (verb), /** @type {any} */ (args)), longEnough()])
  }))
  await fleet.call('scale', { workers: '3' })
  return { pids: [] }
}

/**
 * The journal cannot be written, or not where it was.
 *
 * @param {string} name @param {(fleet: import('.').CampaignFleet) => () => void} begin what it gives ends it
 * @returns {Kind}
 */
const withoutJournal = (name, begin) => ({
  name,
  isSlow: true,
  act: async ({ fleet, random }) => {
    const recycled = fleet.call('recycle', { target: '0' })
    await sleep(random() * 300)
    const end = begin(fleet)
    await fleet.call('recycle', { target: '1' })
    await sleep(1500) // it is looked after once a second
    end()
    await recycled
    await sleep(1500)
    return { pids: [] }
  }
})

/** @type {Kind[]} */
const KINDS = [
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
  withoutJournal('the journal is moved away', fleet => fleet.journal.move()),
  withoutJournal("the journal's folder is moved away", fleet => fleet.journal.moveFolder()),
  withoutJournal('a FIFO without a reader in place of the journal', fleet => fleet.journal.replaceByFifo()),
  {
    name: 'stdout is closed, and workers print by way of the primary',
    variants: ['requests move'], // elsewhere they write to it themselves: Node.js ends a process that does so twice
    act: async ({ fleet, random }) => {
      fleet.cli.child.stdout.destroy()
      for (const { pid } of await fleet.workers()) fleet.deed(pid, 'prints')
      await moment({ fleet, random }).then(({ recycled }) => recycled)
      return { pids: [] }
    }
  },
  {
    name: 'a second fleet of the same name',
    act: async scene => {
      const { recycled } = await moment(scene)
      const { code, said } = await scene.fleet.startSecond()
      await recycled
      const { pid } = await scene.fleet.call('status')
      return { pids: [], wrong: [code === 0 ? ['the second one has started'] : [], /belongs to a running fleet/.test(said) ? [] : [`the second one has said ${said}`], pid === scene.fleet.inside(scene.fleet.pid) ? [] : ['the control socket is not its own any more']].flat() }
    }
  },
  { name: '200 random signals to the primary', act: manySignals(200), isSlow: true },
  { name: '20 random signals to the primary', act: manySignals(20) },
  { name: '100 verbs at a time', act: manyVerbs(100, 1000), isSlow: true },
  { name: '20 verbs at a time', act: manyVerbs(20, 300) },
  {
    name: 'SIGKILL of the primary',
    act: async scene => {
      await moment(scene)
      scene.fleet.signal(scene.fleet.pid, 'SIGKILL')
      return { pids: [], isFleet: true }
    }
  }
]

module.exports = { KINDS }
