'use strict'

/**
 * Named in a worker's execArgv (`--require`): it runs before the app, in the same process. What it changes there is
 * listed in core/internals.js.
 *
 * `--require` also applies to the app's threads and to children that it forks. So the flag is removed from what they
 * inherit, and nothing is done unless this is a worker of ours: in a thread cluster.isWorker is false.
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { requireIn, openPack } = require('../native/own-code')
const { awaitRest, ownSettings } = require('./settings')

const requireOwn = requireIn(__dirname)

const at = process.execArgv.indexOf(__filename)
if (at > 0) process.execArgv.splice(at - 1, 2)

if (process.env.RECYCLE_ORIGINAL && cluster.isWorker) {
  const settings = ownSettings('RECYCLE_ORIGINAL')
  openPack('worker', settings.worker.compileCache)
  requireOwn('../features/fork/original').becomeMold(settings)
} else if (process.env.RECYCLE_WORKER && cluster.isWorker) {
  /** @type {import('./prepare').Settings} */
  const settings = ownSettings('RECYCLE_WORKER')
  openPack('worker', settings.compileCache)
  const { prepare } = /** @type {typeof import('./prepare')} */ (requireOwn('./prepare'))
  const { Channel } = /** @type {typeof import('./channel')} */ (requireOwn('./channel'))
  const { enter } = prepare(settings)
  if (settings.waitsAt) Object.assign(settings, awaitRest(settings.waitsAt))
  enter(new Channel(), settings)
}
