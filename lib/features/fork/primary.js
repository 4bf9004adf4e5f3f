'use strict'

const { RecycleError } = require('../../core/errors')
const { loadAddon } = require('../../native/addon')
const { Molds } = require('./molds')

/** @returns {null} it can fork @throws {RecycleError} RECYCLE_FORK_UNSUPPORTED */
function refuse () {
  const { missing } = loadAddon()
  if (missing !== null) throw new RecycleError('RECYCLE_FORK_UNSUPPORTED', { option: '--fork mold', why: missing, instead: '--fork spawn' })
  return null
}

/** @param {import('..').PrimaryKernel} kernel @returns {import('..').PrimaryPart} */
function forkWorkers (kernel) {
  const { warm, forkUnsafe, readyTimeoutMs } = kernel.options
  const addon = /** @type {import('../../native/addon').Addon} */ (loadAddon().addon)
  const settings = { warm, isUnsafe: forkUnsafe }
  const molds = new Molds({ addon, readyTimeoutMs, now: kernel.now, start: (generation, control) => kernel.startOriginal({ feature: 'fork', label: 'mold', generation, control, settings }) })
  molds.on('gone', mold => kernel.ended(mold))
  molds.on('event', (event, fields) => kernel.record(event, fields))
  molds.on('refused', why => {
    if (kernel.fleet.serving().length > 0) return // what was to be forked has failed, and is tried again
    if (kernel.hasServed()) molds.giveUp(`no worker can be forked any more: ${why}`)
    else kernel.abandon(new RecycleError('RECYCLE_FORK_REFUSED', { why }))
  })
  return { source: molds }
}

module.exports = { forkWorkers, refuse }
