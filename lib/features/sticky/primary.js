'use strict'

/** In the primary: which worker has which session (owners.js), and what tells that the option is set wrongly. */

const { RecycleError } = require('../../core/errors')
const { FleetTally } = require('./fleet-tally')
const { SessionOwners } = require('./owners')
const { sessionOf } = require('./session')

/**
 * @param {import('../../primary/parts').Parts} kernel
 * @returns {import('../interface').PrimaryPart & { owners: SessionOwners,
 *   sessionOf: (asked: import('../interface').Asked) => string | null }}
 */
function keepSessions (kernel) {
  const { options, record } = kernel
  const tally = new FleetTally(kernel)
  const key = /** @type {import('./session').SessionKey} */ (options.sticky)
  return {
    owners: new SessionOwners(kernel),
    sessionOf: asked => sessionOf(key, asked),
    connect (handle) {
      tally.connect(handle)
      handle.on('address', ({ query: { address, port }, data }) => {
        if (data === undefined) return // https servers alone have any
        const error = new RecycleError('RECYCLE_STICKY_TLS',
          { option: '--sticky', address: port > 0 ? `port ${port}` : address })
        if (!kernel.lifecycle.hasServed) return kernel.abandon(error)
        record('fleet.warning', { warning: 'sticky-tls', slot: handle.slot, pid: handle.pid, why: error.message })
        if (handle.state === 'spawning') handle.process.kill('SIGKILL') // so that a reload fails
      })
    }
  }
}

module.exports = { keepSessions }
