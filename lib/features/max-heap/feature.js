'use strict'

/**
 * `--max-heap`: a worker is replaced before V8 ends it for want of heap. What counts is what mark-sweeps leave of the
 * old generation, which V8 compares with its limit; `heap_size_limit` includes the young one, too. Near the limit V8
 * collects ever more often, so that there is a recent figure.
 */

/** @param {import('..').Shapes} shapes */
const bytesOrNull = ({ orNull, count }) => orNull(count)

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-heap',
  options: ({ row, types }) => [
    row('maxHeap', '--max-heap <size|percent>', types.orPercent(types.size(), "V8's limit"), null, 'none',
      "heap in use after a mark-sweep before a worker is replaced, as a size or a percentage of V8's limit")
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxHeap !== null,
  figures: {
    heapUsedBytes: {
      unit: 'bytes',
      beat: bytesOrNull,
      metric: ['heap_live_bytes', 'With --max-heap: heap in use after the last mark-sweep.'],
      limit: {
        reason: 'heap',
        isOfMemory: true,
        budget: 'maxHeap',
        whole: 'heapLimitBytes',
        isOverBy: 'latest',
        sentence: ({ figure, most }, { size }) =>
          `${size(figure)} of heap in use after a mark-sweep, above ${size(most)} (heap)`
      }
    },
    heapLimitBytes: {
      unit: 'bytes',
      beat: bytesOrNull,
      metric: ['heap_limit_bytes', 'With --max-heap: heap at which V8 ends the worker.']
    }
  },
  worker: true
})
