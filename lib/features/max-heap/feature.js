'use strict'

/** `--max-heap`: a worker is replaced before V8 ends it for want of heap. */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-heap',
  options: ({ row, types }) => [
    row('maxHeap', '--max-heap <size|percent>', types.sizeOrPercent("V8's limit"), null, 'none',
      "heap in use after a mark-sweep before a worker is replaced, as a size or a percentage of V8's limit")
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxHeap !== null,
  figures: {
    heapUsedBytes: {
      beat: ({ orNull, count }) => orNull(count),
      metric: { name: 'heap_live_bytes', help: 'With --max-heap: heap in use after the last mark-sweep.' }
    },
    heapLimitBytes: {
      beat: ({ orNull, count }) => orNull(count),
      metric: { name: 'heap_limit_bytes', help: 'With --max-heap: heap at which V8 ends the worker.' }
    }
  },
  worker: () => require('./worker').watchHeap,
  limit: {
    reason: 'heap',
    budget: 'maxHeap',
    figure: 'heapUsedBytes',
    whole: 'heapLimitBytes',
    isOverBy: 'latest',
    sentence: ({ figure, most }, { size }) => `${size(figure)} of heap in use after a mark-sweep, above ${size(most)} (heap)`
  }
})
