'use strict'

/**
 * The fleet that holds the connections: `node fleet.js recycle|cluster <workers>`, with an IPC channel. It says
 * `ready`, and then how many connections each worker has, what the workers say, and on `replace`, which replaces every
 * worker in turn, and on `kill`, which kills one, what became of that.
 *
 *   recycle   recycle.reload() with --replay-after 0, as the sprites ask for
 *   cluster   bare cluster: a new worker is forked, and when it listens an old one is killed, with what it has
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const path = require('node:path')
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { supervise } = require('../../lib')

const APP = path.join(__dirname, 'app.js')
const LOOK_MS = 200

const [, , kind, count] = process.argv
const say = (/** @type {Record<string, any>} */ message) => { if (process.connected) process.send?.(message) }
const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()
setInterval(() => {
  say({ of: 'primary', pid: process.pid, stallMs: delay.max / 1e6 })
  delay.reset()
}, 1000)
process.once('disconnect', () => process.exit()) // the bench has been interrupted

if (kind === 'recycle') runFleet()
else runCluster()

async function runFleet () {
  const fleet = supervise({ app: APP, workers: Number(count), replayAfter: 0, stopLinger: 0, interval: '1s' })
  /** @type {Record<string, any>[]} */
  const recycled = []
  fleet.on('event', line => { if (line.event === 'recycled') recycled.push(line) })
  fleet.on('message', ({ message }) => say({ of: 'worker', ...message }))
  await fleet.ready()
  say({ ready: true })
  setInterval(() => say({ connections: fleet.status().workers.filter(({ state }) => state === 'ready').map(({ connections }) => connections) }), LOOK_MS)
  process.on('message', async order => {
    if (order === 'replace') {
      await fleet.reload()
      const sum = (/** @type {string} */ key) => recycled.reduce((sum, line) => sum + line[key], 0)
      const [cut, unacked, moved, replayed] = ['cut', 'unacked', 'moved', 'replayed'].map(sum)
      say({
        replaced: {
          recycles: recycled.length,
          cut,
          unacked,
          moved,
          replayed,
          longestDrainMs: Math.max(
            ...recycled.map(({ drainMs }) => drainMs)
          )
        }
      })
    } else if (order === 'kill') {
      const crashed = new Promise(resolve => fleet.on('event', line => { if (line.event === 'worker.crash') resolve(line) }))
      const most = fleet.status().workers.filter(({ state }) => state === 'ready').sort((a, b) => b.connections - a.connections)[0]
      process.kill(/** @type {number} */ (most.pid), 'SIGKILL')
      const { moved, replayed, answered, cut, ended } = await crashed
      const connections = moved + replayed + answered + cut + ended // those of its status are a beat old
      say({ killed: { connections, moved, replayed, answered, cut, ended } })
    } else {
      await fleet.stop()
      process.exit()
    }
  })
}

function runCluster () {
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ exec: APP })
  let workers = Array.from({ length: Number(count) }, () => cluster.fork())
  const listening = (/** @type {import('node:cluster').Worker} */ worker) => new Promise(resolve => worker.once('listening', resolve))
  cluster.on('message', (_, message) => say({ of: 'worker', ...message }))
  Promise.all(workers.map(listening)).then(() => say({ ready: true }))
  process.on('message', async order => {
    if (order === 'replace') {
      for (const old of workers) {
        const worker = cluster.fork()
        workers = [...workers.filter(other => other !== old), worker]
        await listening(worker)
        old.process.kill('SIGKILL')
      }
      say({ replaced: { recycles: workers.length } })
    } else {
      for (const worker of workers) worker.process.kill('SIGKILL')
      process.exit()
    }
  })
}
