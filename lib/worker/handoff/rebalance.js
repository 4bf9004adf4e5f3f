'use strict'

/**
 * Moves idle connections to siblings while this worker serves, because the primary has found that it has more than its share.
 * Only connections that have been open for a second, and have been served before, are moved, and none of a session (`--sticky`).
 */

const { performance } = require('node:perf_hooks')

const MAX_MS = 2000

/** @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'sender'>} parts */
function offerRebalance ({ channel, state, sender }) {
  channel.on({
    share ({ count }) {
      if (!state.isServing) return
      const until = performance.now() + MAX_MS
      const onLook = () => { if (sender.isSpent || performance.now() > until) sender.end() }
      sender.begin({ quota: count, isWorthIt, onLook })
      sender.look()
    }
  })
}

/** @param {import('../connections/connection').Connection} connection */
function isWorthIt (connection) {
  if (connection.sessionId !== null) return false // its next request would bring it back
  return connection.isAdopted || (connection.idleSince !== null && connection.hasStayed(performance.now()))
}

module.exports = { offerRebalance }
