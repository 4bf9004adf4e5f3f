'use strict'

const { RecycleError } = require('../../core/errors')
const { loadAddon } = require('../../native/addon')
const { Molds } = require('./molds')
/** @import { PrimaryPart } from '../interface' */

/** @returns {null} it can fork @throws {RecycleError} RECYCLE_FORK_UNSUPPORTED */
function refuse () {
  const { missing } = loadAddon()
  if (missing !== null) {
    throw new RecycleError('RECYCLE_FORK_UNSUPPORTED', { option: '--fork mold', why: missing, instead: '--fork spawn' })
  }
  return null
}

/** @param {import('../../primary/parts').Parts} kernel @returns {PrimaryPart & { source: Molds }} */
function forkWorkers (kernel) {
  return { source: new Molds(kernel, /** @type {import('../../native/addon').Addon} */ (loadAddon().addon)) }
}

module.exports = { forkWorkers, refuse }
