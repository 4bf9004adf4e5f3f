'use strict'

/** The room that `maxConnections` leaves in a server of which some connections are offered: they may come back. */

const kAway = Symbol('recycle.away')

/** @typedef {import('node:net').Server & { [kAway]?: number }} Server */

/** @param {Server} server @param {1 | -1} change in the number of its connections that are offered */
function keepPlaces (server, change) {
  server[kAway] = (server[kAway] ?? 0) + change
}

/** @param {Server} server @returns {boolean} it would close one more */
function hasMost ({ maxConnections, _connections, [kAway]: away = 0 }) {
  return maxConnections > 0 && _connections + away >= maxConnections
}

module.exports = { keepPlaces, hasMost }
