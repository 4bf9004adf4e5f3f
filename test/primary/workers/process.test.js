'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { forkGuardable } = require('../../../lib/primary/workers/channel-guard')
const { ClusterProcess } = require('../../../lib/primary/workers/process')

/** What cluster gives, of a process that has just ended. @param {{ isRead: boolean }} how */
function endedWorker ({ isRead }) {
  const process = Object.assign(new EventEmitter(), { pid: 1, connected: !isRead })
  const worker = Object.assign(new EventEmitter(), { process, isConnected: () => process.connected })
  return { worker: /** @type {any} */ (forkGuardable(() => /** @type {any} */ (worker))), process }
}

t.test('the exit of a worker comes after what it has said last, though the kernel tells of it first', async t => {
  const { worker, process } = endedWorker({ isRead: false })
  const told = new ClusterProcess(() => ({ worker }))
  /** @type {string[]} */
  const events = []
  for (const event of ['message', 'down', 'exit']) told.on(event, () => events.push(event))
  worker.emit('exit', 3, null)
  t.same(events, [])
  process.emit('internalMessage', {})
  process.connected = false
  worker.emit('disconnect')
  t.same(events, ['message', 'down', 'exit'])
})

t.test('it comes at once where all is read, and after a second where another process holds the channel open', async t => {
  const { worker } = endedWorker({ isRead: true })
  const exits = new ClusterProcess(() => ({ worker }))
  const exit = new Promise(resolve => exits.once('exit', resolve))
  worker.emit('exit', null, 'SIGKILL')
  t.same(await exit, { code: null, signal: 'SIGKILL' })
  const held = endedWorker({ isRead: false })
  const late = new ClusterProcess(() => ({ worker: held.worker }))
  const began = performance.now()
  held.worker.emit('exit', 0, null)
  await new Promise(resolve => late.once('exit', resolve))
  t.ok(performance.now() - began > 900)
})
