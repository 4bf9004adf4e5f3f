'use strict'

/**
 * Why recycle itself kills a worker: `killedFor` in the journal. `isStuck`: its event loop does not do what it is told.
 *
 * @typedef {'not-ready' | 'no-account' | 'kill-timeout' | 'unstarted' | 'blocked'} KilledFor `unstarted`: it left
 *   before its app was run
 * @type {ReadonlyMap<KilledFor | null, { level?: 'warn', isStuck?: boolean, say: string }>}
 */
const KILLS = new Map([
  ['not-ready', { say: 'it did not become ready' }],
  ['no-account', { level: 'warn', isStuck: true, say: 'it did not say in time what became of its connections' }],
  ['kill-timeout', { level: 'warn', say: 'its app had not ended within --kill-timeout of SIGTERM' }],
  ['unstarted', { say: 'its app had not been run yet' }],
  ['blocked', { level: 'warn', isStuck: true, say: 'its event loop was blocked' }]
])

module.exports = { KILLS }
