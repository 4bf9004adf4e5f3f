'use strict'

/** `recycle leak`, `--leak-report`: which function leaks, by the allocations of a worker profiled for a minute. */

/**
 * @typedef {object} Commands
 * @property {(slot: number, how?: { forMs?: number, isWhole?: boolean, signal?: AbortSignal }) =>
 *   ReturnType<import('./study').Study['run']>} leak replaces the worker of a slot by one that is profiled for `forMs`
 *   (60,000; 2,000 to 3,600,000), and that one by an ordinary worker; resolves with the journal's `leak.end` line, with
 *   `readings`, `growth`, `recycled` and `notRestored` beside, which says why the profiled one serves on, or is null.
 *   `isWhole`: functions of packages and of Node.js are named, too. `signal` ends it: what was read so far is the
 *   result. Throws RECYCLE_BAD_OPTION, RECYCLE_NO_SLOT, RECYCLE_NOT_READY, RECYCLE_NOT_DONE, RECYCLE_STOPPED
 */

const MOST_CHARS = 16 * 1024 ** 2

/**
 * @type {import('..').Feature & { tasks: Record<string, string>, live: import('../../operate/admin/picture').SayLive }}
 */
const feature = {
  name: 'leak-line',
  options: ({ row, types }) => [
    row('leakReport', '--leak-report', types.boolean(), false, 'off', 'when budgets replace workers sooner ' +
      'than every hour, find out by itself which function leaks, as recycle leak does; once a day at most')
  ],
  group: 'Memory and other limits:',
  isOn: () => true, // for the command
  fromWorker: ({ kind, count, orNull, text }) => ({
    'leak-reading': kind('what a worker under study has in memory after a collection; `growth`: what has grown since ' +
      'its first reading, as JSON', {
      requests: count,
      rssBytes: count,
      heapTotalBytes: count,
      heapUsedBytes: count,
      externalBytes: count,
      growth: orNull(text(MOST_CHARS))
    })
  }),
  does: ({ flag, duration }) => ({ // by one under study; whole: nothing is folded
    'leak-reading': { fields: { isWhole: flag }, answer: { pauseMs: duration } }
  }),
  tasks: { 'leak-reading': 'read its heap profile' },
  commands: ({ flag, number }) => ({ leak: { forMs: number, isWhole: flag } }),
  command: () => require('./command').addLeak,
  events: {
    'leak.begin': {
      sentence: (line, { worker, time }) => `${worker(line)} is under study for leaks: ${time(line.forMs)}`
    },
    'leak.reading': { level: 'quiet' },
    'leak.end': {
      level: ({ verdict }) => verdict === 'grows' ? 'warn' : 'info',
      sentence: (line, format) => require('./report').sentenceOf(line, format)
    }
  },
  primary: () => kernel => new (require('./primary').LeakStudies)(kernel),
  settings: () => null, // of a worker under study alone
  worker: true,
  status: {
    key: 'leakStudies',
    lines: (about, paint) => require('./report').statusLines(about, paint)
  },
  live: about => require('./sentence').live(about),
  report: 'leakStudies'
}

module.exports = Object.freeze(feature)
