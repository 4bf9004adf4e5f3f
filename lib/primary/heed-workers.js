'use strict'

/** The primary's answers to what a worker says and does, beside what each part hears for itself. */

const { version } = /** @type {{ version: string }} */ (require('../../package.json'))
const { whyStayed } = require('../core/why-stayed')
/** @import { Parts } from './parts' */
/** @import { WorkerHandle } from './workers/worker-handle' */

const CLOSED_MS = 5000 // an app may close a server and open it again

/** @param {Parts} parts @returns {(handle: WorkerHandle) => void} for each worker that has been spawned */
function heedWorkers (parts) {
  const { autoSize, failures, features, record, sampler, tasks, warnings, onMessage } = parts
  const { gone } = parts.spawner.outputs
  const { listeningSockets, ledger, balancer, children, crashWatch, rotation } = parts

  return handle => {
    const worker = () => ({ slot: handle.slot, pid: handle.pid })
    listeningSockets.connect(handle)
    features.owners?.connect(handle)
    for (const part of [ledger, balancer, features, children, crashWatch, rotation]) part.connect(handle)
    handle.hear({
      tell ({ of, ...about }) {
        if (of === 'threw') record('worker.threw', { ...worker(), where: about.where, error: about.error })
        else if (of === 'copy') warnings.warnOnce({ warning: 'copy', found: about.version, version }, about.version)
        else gone.note(handle, /** @type {import('./outputs').Loss} */ (about))
      },
      requested ({ reason }) {
        record('worker.request', { ...worker(), reason: reason ?? null })
        sampler.replace(handle, 'requested')
      }
    })
    handle.once('emptied', (/** @type {import('../core/account').Account} */ account) => {
      for (const why of whyStayed(account)) warnings.warnOnce({ warning: 'stayed', ...worker(), why }, why)
    })
    if (handle.isAdopted) handle.once('ready', () => sampler.replace(handle, 'adopted', { isCommanded: true }))
    if (autoSize.isOpen) handle.once('ready', () => sampler.lookNow()) // the others wait for what it takes
    for (const event of ['standby', 'ready']) handle.on(event, () => sampler.watch(handle))
    handle.on('missing', (/** @type {Record<'key' | 'missing', string>} */ { key, missing }) =>
      warnings.warnOnce({ warning: 'no-handoff', key, missing }, key))
    /** @type {NodeJS.Timeout | undefined} */
    let closed
    handle.on('closes', () => {
      clearTimeout(closed)
      closed = setTimeout(() => {
        const isUnserved = handle.isServing && handle.hasClosed && handle.reason === null
        if (isUnserved) record('fleet.warning', { warning: 'no-server', ...worker() })
      }, CLOSED_MS).unref()
    })
    handle.on('flaw', (/** @type {{ type: string, flaw: string }} */ { type, flaw }) => {
      record('worker.protocol-error', { ...worker(), type, flaw })
      sampler.lookNow({ requestedAlone: true })
    })
    handle.on('exit', () => gone.left(handle))
    handle.on('failed', ({ type, error }) => failures.note(`a worker's message ${type}`, error))
    handle.on('disconnect', () => tasks.run('disconnect', async () => { // it has died, or the app has cut the channel
      if (await handle.afterDown()) return
      if (handle.isWatched || handle.state === 'out-of-rotation') handle.condemnation.request('requested')
    }))
    handle.on('message', message => onMessage({ ...worker(), message }))
  }
}

module.exports = { heedWorkers }
