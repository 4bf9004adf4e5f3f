'use strict'

/** @param {import('../../primary/parts').Parts} kernel @returns {import('../interface').PrimaryPart} */
function warnOfShort ({ options, record }) {
  /** The first finding. @type {import('./feature').Short | null} */
  let short = null
  return {
    connect (handle) {
      handle.hear({
        'proxy-idle' ({ header, idleMs, timeoutMs }) {
          if (short !== null) return // each worker tells it
          short = { header, idleMs, timeoutMs }
          record('fleet.warning', { warning: 'keep-alive-timeout', slot: handle.slot, pid: handle.pid, ...short })
        }
      })
    },
    describe: () => ({ timeoutMs: options.keepAliveTimeoutMs, short })
  }
}

module.exports = { warnOfShort }
