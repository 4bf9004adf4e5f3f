'use strict'

/**
 * The time from the start of the command to the first byte of a response, and the CPU time that a start takes: that of
 * the primary and of a worker, two seconds after it began. Hello world; the client tries to connect every millisecond.
 *
 *     npm run bench:start -- [--rounds 5] [--workers 1,5] [--quick]
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const { openBench } = require('./support/rounds')
const { temporaryFolder } = require('./support/folder')
const { pidsOf } = require('./support/usage')
const { freePort } = require('../lib/tools/drill/target')

const APP = path.join(__dirname, 'apps', 'pid.js')
const BARE = path.join(__dirname, 'support', 'bare-cluster.js')
const RECYCLE = path.join(__dirname, '..', 'bin', 'recycle.js')
const CPU_AFTER_MS = 2000
const GIVE_UP_MS = 30_000

const bench = openBench({ name: 'start', options: { workers: '1,5' }, quick: { workers: '1' } })
const cache = temporaryFolder() // of compiled code: the first start of all fills it

bench.run({
  groups: String(bench.values.workers).split(',').map(workers => ({
    name: `${workers} worker${workers === '1' ? '' : 's'}`,
    subjects: {
      node: () => timeStart([APP]),
      'bare cluster': () => timeStart([BARE, 'none', workers, APP]),
      recycle: () => timeStart([RECYCLE, '--control', 'none', '--log', 'silent', '--workers', workers, APP])
    },
    beside: ['bare cluster']
  })),
  columns: [
    { key: 'firstByteMs', title: 'start → first byte, ms', digits: 0, ratio: true, less: true },
    { key: 'primaryMs', title: 'CPU of the primary, ms', digits: 0, ratio: true, less: true },
    { key: 'workerMs', title: 'CPU of a worker, ms', digits: 0, less: true }
  ],
  goals: [
    { subject: 'recycle', key: 'firstByteMs', group: '1 worker', ratioAtMost: 1.5 },
    { subject: 'recycle', key: 'firstByteMs', group: '5 workers', ratioAtMost: 2 }
  ].filter(({ group }) => String(bench.values.workers).split(',').includes(group.split(' ')[0])),
  plot: { key: 'firstByteMs', title: 'Start → first byte, ms' }
})

/** @param {string[]} args of node */
async function timeStart (args) {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port), XDG_CACHE_HOME: cache }
  const began = performance.now()
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  const exited = once(child, 'exit')
  try {
    while (!await answers(port)) {
      if (performance.now() - began > GIVE_UP_MS) throw new Error(`no answer within ${GIVE_UP_MS} ms`)
      await setTimeout(1)
    }
    const firstByteMs = performance.now() - began
    await setTimeout(CPU_AFTER_MS)
    const [primaryMs, ...workers] = pidsOf(Number(child.pid)).map(cpuMs)
    return { firstByteMs, primaryMs, workerMs: workers.reduce((sum, ms) => sum + ms, 0) / (workers.length || 1) }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

/** @param {number} port @returns {Promise<boolean>} false: nothing listens there yet */
function answers (port) {
  return new Promise(resolve => {
    http.get({ port, host: '127.0.0.1', agent: false }, response => {
      response.resume()
      resolve(true)
    }).on('error', () => resolve(false))
  })
}

/** To the nanosecond, where /proc/<pid>/stat has ticks. @param {number} pid @returns {number} of its threads */
function cpuMs (pid) {
  const threads = fs.readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) =>
    sum + Number(fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0)
}
