'use strict'

/** `--max-handles`: a worker that keeps timers, sockets or other handles of libuv open without end is replaced. */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-handles',
  options: ({ row, types }) => [
    row('maxHandles', '--max-handles <n>', types.count(16, 1e9), null, 'none',
      'what keeps the event loop of a worker alive, connections and timers among it, before it is replaced')
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxHandles !== null,
  figures: {
    handles: {
      unit: 'count',
      beat: ({ count }) => count,
      metric: ['open_handles', 'With --max-handles: what keeps the event loop alive.'],
      limit: {
        reason: 'handles',
        budget: 'maxHandles',
        isOverBy: 'all',
        sentence: ({ figure, most }) => `${figure} open handles and timers, above ${most} (handles)`
      }
    }
  },
  worker: true
})
