'use strict'

const { performance } = require('node:perf_hooks')
const { LONGEST_PATH } = require('../../core/account')

/**
 * @param {import('../connections/connection').Connection} connection @param {boolean} handoff
 * @returns {import('../../core/account').Cut[]} what cutting this connection now would cut, one entry an exchange
 */
function nameCuts (connection, handoff) {
  const now = performance.now()
  const exchanges = connection.exchanges.length > 0 ? connection.exchanges : [{ head: null, since: connection.since }]
  return exchanges.map(({ head, since }) => ({
    method: head && head.method.slice(0, 100),
    path: head && head.url.split('?')[0].slice(0, LONGEST_PATH),
    ageMs: Math.round(now - (since ?? now)),
    remotePort: connection.socket.remotePort ?? null,
    upgraded: connection.isForeign,
    ...connection.isForeign && { why: handoff ? connection.stays : 'stop' }
  }))
}

module.exports = { nameCuts }
