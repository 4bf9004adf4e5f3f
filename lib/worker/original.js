'use strict'

/**
 * A process of which workers are copies, by a feature: what it does before the copies are made is what a worker does
 * before it loads the app, and in each copy follows the rest.
 */

const { featureOf } = require('../features/by-name')
const { warmUpApp } = require('./app-warmup')
const { flushCompileCache } = require('./boot/compile-cache')
const { Channel } = require('./channel')
const { prepare } = require('./prepare')
const { ownSettings } = require('./settings')
const { exposeGc } = require('./vitals/memory')

/** @param {{ feature: string, worker: import('./prepare').Settings, settings: Record<string, any> }} how */
function becomeOriginal ({ feature, worker, settings }) {
  featureOf(feature).original?.()({
    prepare () {
      const { enter, ...prepared } = prepare(worker)
      return { ...prepared, becomeWorker: () => enter(new Channel(), ownSettings('RECYCLE_WORKER')) }
    },
    warmUpApp,
    flushCompileCache,
    exposeGc
  }, settings)
}

module.exports = { becomeOriginal }
