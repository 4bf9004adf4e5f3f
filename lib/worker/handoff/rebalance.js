'use strict'

/**
 * Moves connections to siblings while this worker serves, because the primary has found that it has more than its share
 * of the load, or of the connections. Only connections that have been open for a second, and have been served before,
 * are moved, and none of a session (`--sticky`). Each moves when it is idle: a busy one is so between two requests, and
 * one whose protocol is the app's when the app gives its state.
 */

const { performance } = require('node:perf_hooks')
const { LIGHT, choose } = require('../../core/sharing')

const MAX_MS = 2000

/** @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'tracker' | 'sender'>} parts */
function offerRebalance ({ channel, state, tracker, sender }) {
  channel.on({
    share (gift) {
      if (!state.isServing) return
      const until = performance.now() + MAX_MS
      const onLook = () => { if (sender.isSpent || performance.now() > until) sender.end() }
      const chosen = choose([...tracker.connections].filter(isWorthIt), gift)
      if (chosen.size === 0) return // one connection makes all the load, say: a look would cost more than it finds
      sender.begin({ quota: chosen.size, chosen, onLook })
      sender.look()
    }
  })
}

/** @param {import('../connections/connection').Connection} connection */
function isWorthIt (connection) {
  // The next request of a session would bring it back
  if (connection.sessionId !== null) return false
  if (connection.isForeign) return connection.isSharable
  if (!connection.isMovable) return false
  // The connection waits for a response: others are idle now
  if (connection.load < LIGHT && connection.exchanges.length > 0) return false
  return connection.isAdopted || (connection.hasResponded && connection.hasStayed(performance.now()))
}

module.exports = { offerRebalance }
