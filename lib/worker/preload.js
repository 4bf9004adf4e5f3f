'use strict'

/**
 * Named in a worker's execArgv (`--require`): it runs before the app, in the same process. What it changes there is
 * listed in core/internals.js.
 *
 * `--require` also applies to the app's threads and to children that it forks. So the flag is removed from what they
 * inherit, and nothing is done unless this is a worker of ours: in a thread cluster.isWorker is false.
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { findOwnFiles } = require('../native/own-files')
const { awaitRest, ownSettings } = require('./settings')

const at = process.execArgv.indexOf(__filename)
if (at > 0) process.execArgv.splice(at - 1, 2)

if (process.env.RECYCLE_ORIGINAL && cluster.isWorker) {
  const restore = findOwnFiles()
  require('../features/fork/original').becomeMold(ownSettings('RECYCLE_ORIGINAL'))
  restore()
} else if (process.env.RECYCLE_WORKER && cluster.isWorker) {
  const restore = findOwnFiles()
  /** @type {import('./prepare').Settings} */
  const settings = ownSettings('RECYCLE_WORKER')
  const { enter } = require('./prepare').prepare(settings)
  const { Channel } = require('./channel')
  if (settings.waitsAt) Object.assign(settings, awaitRest(settings.waitsAt))
  enter(new Channel(), settings)
  restore() // before the app, which may have a resolver of its own
}
