'use strict'

/** In the primary: has all workers announce the end of their connections, and lets the stop wait. */

const { setTimeout } = require('node:timers/promises')
/** @import { Parts } from '../../primary/parts' */
/** @import { PrimaryPart } from '../interface' */

/** @param {Parts} kernel @returns {PrimaryPart & { beforeStop: (hurried: AbortSignal) => Promise<void> }} */
function delayStop ({ options: { stopDelayMs }, record, now }) {
  /** @type {Set<import('../../primary/workers/worker-handle').WorkerHandle>} */
  const workers = new Set()
  /** By now(); null: no stop waits. @type {number | null} */
  let until = null
  return {
    connect (handle) {
      handle.on('ready', () => {
        workers.add(handle)
        if (until !== null) handle.order('announce-close')
      })
      handle.on('exit', () => workers.delete(handle))
    },
    /** @param {AbortSignal} hurried */
    async beforeStop (hurried) {
      until = now() + stopDelayMs
      record('fleet.stop-delay', { delayMs: stopDelayMs })
      for (const handle of workers) handle.order('announce-close')
      await setTimeout(stopDelayMs, undefined, { signal: hurried }).catch(() => {})
      until = null
    },
    describe: () => ({ leftMs: until === null ? null : Math.max(0, until - now()) })
  }
}

module.exports = { delayStop }
