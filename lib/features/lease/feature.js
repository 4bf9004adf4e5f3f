'use strict'

/**
 * `onLease()` of the worker API: what one process of a slot does at a time, such as cron jobs. While a worker is
 * replaced there are two.
 */

/** @typedef {{ lease: 'waits' | 'held' | null }} OfWorker */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'lease',
  options: () => [],
  group: '',
  isOn: () => true,
  api: ['onLease'],
  fromWorker: ({ kind, optional, flag, count }) => ({
    lease: kind('its app waits for the lease of the slot; `held`: of which slot it has one, from a primary that has ' +
      'died; `isOver`: this worker drains, and its app has ended what it did with it',
    { held: optional(count), isOver: optional(flag) })
  }),
  fromPrimary: ({ kind, count }) => ({
    lease: kind('the lease of the slot is this worker\'s', { slot: count })
  }),
  ofWorker: known => ({ lease: known ?? null }),
  events: {
    'worker.lease': {
      sentence: ({ slot, pid, waitedMs }, { time }) =>
        `slot ${slot} (${pid}) has the lease of its number${waitedMs > 0 ? `, ${time(waitedMs)} after it asked` : ''}`
    }
  },
  primary: () => kernel => new (require('./primary').Leases)(kernel),
  worker: true
})
