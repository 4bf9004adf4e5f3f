'use strict'

/**
 * Where a fleet of a campaign runs: as any process does, in cgroups of its own, as PID 1, or with a wall clock that can
 * be set. The last three are made as containers and machines make them, and cannot be had everywhere.
 *
 * @typedef {object} Place
 * @property {string[]} under what begins the fleet's command
 * @property {Record<string, string>} [env]
 * @property {(child: number) => number} [primary] the primary's pid, by that of the process that was started
 * @property {(pid: number) => number | undefined} [inside] what the fleet calls this process
 * @property {(text: string) => string} [journal] with the times of this machine's clock
 * @property {(seconds: number) => void} [setClock] from here on so far from this machine's clock
 * @property {import('./cgroups').Cgroups} [cgroups]
 * @property {(pid: number, command: string) => void} [runAt] where that process is: a shell's command
 * @property {() => Promise<void>} [end] once its last process has exited
 */

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { Cgroups, noCgroups } = require('./cgroups')
const { childrenOf } = require('../support/processes')
const { absent } = require('../support/program')

const SHIM = path.join(__dirname, '..', 'fixtures', 'clock-shift.cc')
const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', ...process.getuid?.() === 0 ? [] : ['--map-root-user']]
const SLACK_MS = 1000 // between a setting of the clock and its note
const MEMORY_BYTES = 1024 ** 3

/** @type {Record<string, { missing: () => string | null, make: (folder: string) => Place }>} */
const PLACES = {
  ordinary: { missing: () => null, make: () => ({ under: [] }) },
  cgroups: {
    missing: () => noCgroups,
    make: () => {
      const cgroups = new Cgroups(MEMORY_BYTES)
      return { under: cgroups.within, cgroups, end: () => cgroups.end() }
    }
  },
  namespace: {
    missing: () => failure([...UNSHARE, 'true']),
    make: () => ({
      under: UNSHARE,
      primary: child => childrenOf(child)[0].pid,
      inside: pid => Number(/^NSpid:.*\t(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]),
      runAt: (pid, command) => { execFileSync('nsenter', ['--mount', ...process.getuid?.() === 0 ? [] : ['--user', '--preserve-credentials'], '--target', String(pid), 'sh', '-c', command]) }
    })
  },
  clock: { missing: () => absent('g++'), make: makeClock }
}

/** @param {string} folder @returns {Place} */
function makeClock (folder) {
  const library = path.join(folder, 'clock.so')
  const file = path.join(folder, 'shift')
  execFileSync('g++', ['-shared', '-fPIC', '-O1', '-o', library, SHIM])
  fs.writeFileSync(file, Buffer.alloc(8))
  const fd = fs.openSync(file, 'r+') // written in place: it is mapped
  /** @type {{ since: number, ms: number }[]} */
  const settings = [{ since: Date.now(), ms: 0 }]
  return {
    under: [],
    env: { LD_PRELOAD: library, CLOCK_SHIFT: file },
    setClock (seconds) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(seconds))
      settings.push({ since: Date.now(), ms: seconds * 1000 })
      fs.writeSync(fd, bytes, 0, 8, 0)
    },
    // Settings are hours apart, and a campaign's fleet lives for minutes: a time is of one of them alone.
    journal: text => text.replace(/^\{"v":1,"t":(\d+)/gm, (line, t) => {
      const setting = settings.find(({ since, ms }, i) => {
        const at = Number(t) - ms
        return at >= since - SLACK_MS && at <= (settings[i + 1]?.since ?? Infinity) + SLACK_MS &&
          at <= Date.now() + SLACK_MS
      })
      return setting ? line.replace(t, String(Number(t) - setting.ms)) : line
    }),
    end: async () => fs.closeSync(fd)
  }
}

/** @param {string[]} command @returns {string | null} why it fails */
function failure ([program, ...args]) {
  const { error, status, stderr } = spawnSync(program, args)
  return error ? error.message : status === 0 ? null : String(stderr).trim()
}

/** @param {string} file @returns {string} empty: it is not there any more */
function read (file) {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

module.exports = { PLACES }
