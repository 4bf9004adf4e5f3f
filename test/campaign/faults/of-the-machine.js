'use strict'

/**
 * What the machine does to a fleet: no memory, no process, no /proc, another time, a busy processor, and what PID 1
 * inherits.
 */

const { spawn } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { moment, next, oneOf, longEnough } = require('./moment')

/** @typedef {import('.').Kind} Kind */

const HOURS = [-72, -24, -6, 6, 24, 72]
const CHANGED = ['stuck', 'age', 'unhealthy', 'lag'] // reasons to condemn that are a matter of time

/** @type {Kind[]} */
const KINDS = [
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
    name: 'OOM kill of a worker in a memory cgroup',
    place: 'cgroups',
    act: async scene => {
      const { fleet, random } = scene
      const { old, other, recycled } = await moment(scene)
      const victim = oneOf(random, [old, other])
      const killed = next(fleet, 'worker.crash')
      fleet.deed(victim, 'eats all memory')
      const line = await Promise.race([killed, longEnough()])
      await recycled
      // Its end may be a retirement then
      const isLeft = fleet.events.all('worker.drain').some(({ pid }) => pid === victim)
      return { pids: [victim], wrong: isLeft || (line?.pid === victim && line.oomKilled) ? [] : [`${victim} was to be killed, and there was ${JSON.stringify(line)}`] }
    }
  },
  {
    name: 'no process or thread can be started (EAGAIN)',
    place: 'cgroups',
    needs: ({ place }) => place.cgroups?.counts === true,
    act: async ({ fleet, random }) => {
      const { cgroups } = fleet.place
      cgroups?.limitProcesses(Math.floor(random() * 8)) // with some, the process starts and not all of its threads
      await Promise.race([fleet.call('recycle', { target: String(Math.floor(random() * 3)) }), sleep(2000)])
      cgroups?.limitProcesses(null)
      return { pids: [] }
    }
  },
  {
    name: 'the clock is set back or forward by hours',
    place: 'clock',
    act: async scene => {
      const { fleet, random } = scene
      const before = fleet.events.all('worker.condemn').length
      const { recycled } = await moment(scene)
      fleet.place.setClock?.(3600 * oneOf(random, HOURS))
      await recycled
      await fleet.call('recycle', { target: '1' })
      await sleep(500)
      const odd = fleet.events.all('worker.condemn').slice(before).filter(({ reason }) => CHANGED.includes(reason))
      return { pids: [], wrong: odd.map(line => `condemned by a clock: ${JSON.stringify(line)}`) }
    }
  },
  {
    name: '/proc is empty for a while',
    place: 'namespace',
    act: async scene => {
      const { fleet, random } = scene
      fleet.place.runAt?.(fleet.pid, 'mount -t tmpfs none /proc')
      const { recycled } = await moment(scene)
      await recycled
      await sleep(random() * 500)
      fleet.place.runAt?.(fleet.pid, 'umount /proc')
      return { pids: [] }
    }
  },
  {
    name: 'PID 1 gets 20 orphans of the app',
    place: 'namespace',
    act: async scene => {
      const { fleet } = scene
      const { other, recycled } = await moment(scene)
      fleet.deed(other, 'leaves orphans')
      await recycled
      await sleep(1000)
      const zombies = fleet.zombies()
      return { pids: [], wrong: zombies.length > 3 ? [`${zombies.length} zombies are left`] : [] }
    }
  }
]

module.exports = { KINDS }
