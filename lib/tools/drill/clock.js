'use strict'

/**
 * Ms since the epoch, fractional, monotonic within a process. Processes of a machine agree on it unless the clock was
 * set between their starts, so that the clients' records can be compared with the journal.
 */
const now = () => performance.timeOrigin + performance.now()

module.exports = { now }
