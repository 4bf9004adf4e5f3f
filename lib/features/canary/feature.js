'use strict'

/**
 * `recycle reload --canary`: a few workers of the new code join the fleet, and are compared with the others on the same
 * traffic. Where they are worse, they leave, and the others serve on; else the reload goes on.
 */

/**
 * @typedef {object} Reload
 * @property {number | string} [canary] workers of the new code that are tried first, or a percentage of the workers; 0:
 *   none. By default as the option
 * @property {number | string} [bake] how long
 * @property {'go' | 'back'} [undecided] what becomes of code of which too little is known
 * @property {boolean} [promote] ends the trial under way: all workers are to run the new code
 * @property {boolean} [abort] ends it: none is
 */

const { countsOf, kinds } = require('./kinds')
/** @import { SayLive } from '../../operate/admin/picture' */

const KEY = 'canary'

/**
 * @typedef {object} ReloadArgs arguments of the control socket's `reload`, and options of `recycle reload` of the same
 *   names
 * @property {(kinds: import('..').ArgKinds) => import('..').Args} args
 * @property {[flags: string, help: string, preset?: string][]} flags
 * @property {(status: import('../../primary/supervisor').Status) => string | null} [say] what it waits for, by status()
 */

/** @type {Readonly<import('..').Feature & { reload: ReloadArgs, live: SayLive }>} */
module.exports = Object.freeze({
  name: 'canary',
  options ({ row, types }) {
    const { canary, bake, undecided } = kinds(types)
    return [
      row('canary', '--canary <n|n%>', canary, null, 'none', 'a reload begins with so many workers of the new code, ' +
        'beside the others, and goes on only if they are as good'),
      row('bake', '--bake <time>', bake, 120_000, '2m', 'with --canary: how long they are compared', 'bakeMs'),
      row('undecided', '--undecided <go|back>', undecided, 'back', 'back',
        'with --canary: what the reload does where they have had too few requests to tell')
    ]
  },
  group: 'Replacing workers:',
  isOn: () => true, // for the command
  fromWorker: shapes => ({
    observe: shapes.kind('while it is compared, once a second: what it has counted since that began',
      { counts: countsOf(shapes) })
  }),
  fromPrimary: ({ kind, record, duration, flag, optional, orNull }) => ({
    observe: kind('count anew; `thresholds`: what takes longer is slow, null: that is not known yet; `isOver`: no more',
      { thresholds: orNull(record({ medianMs: duration, tailMs: duration })), isOver: optional(flag) })
  }),
  reload: {
    args: ({ option, flag }) => ({ canary: option, bake: option, undecided: option, promote: flag, abort: flag }),
    flags: [
      ['--canary [n|n%]', 'begin with so many workers of the new code (1), beside the others; ' +
        'the reload goes on only if they are as good', '1'],
      ['--bake <time>', 'with --canary: how long they are compared (default: --bake of the fleet, 2m)'],
      ['--undecided <go|back>', 'with --canary: what to do where they have had too few requests to tell (back)'],
      ['--promote', 'do not wait for the end of a comparison under way: the reload goes on'],
      ['--abort', 'the same, and the new code leaves']
    ],
    say: status => require('./sentence').sayProgress(status[KEY])
  },
  events: {
    'canary.verdict': {
      level: ({ isGood }) => isGood ? 'info' : 'warn',
      sentence: line => require('./sentence').sayVerdict(line)
    }
  },
  primary: () => kernel => new (require('./primary').Canary)(kernel),
  worker: true,
  metrics: [
    metric('canary_requests', 'While new code is compared with that before: requests answered, by generation.',
      side => side.requests),
    metric('canary_errors_ratio', 'The same: share of responses with 5xx.', side => side.errors),
    metric('canary_response_p50_seconds', 'The same: median of the time to the response.',
      ({ p50 }) => p50 === null ? null : p50 / 1000),
    metric('canary_response_p99_seconds', 'The same: 99th percentile of the time to the response.',
      ({ p99 }) => p99 === null ? null : p99 / 1000),
    metric('canary_rss_bytes', 'The same: mean memory of a worker.', side => side.rssBytes)
  ],
  status: {
    key: KEY,
    lines: (about, paint) => require('./sentence').linesOf(about, paint)
  },
  live: about => require('./sentence').compared(about),
  report: 'canaries'
})

/**
 * @param {string} name @param {string} help
 * @param {(side: ReturnType<typeof import('./sentence').sides>[0]) => number | null} of @returns {import('..').Metric}
 */
function metric (name, help, of) {
  return {
    name,
    help,
    labels: ['generation', 'code'],
    values: status => require('./sentence').sides(status[KEY]).flatMap(side => {
      const value = of(side)
      return value === null ? [] : [[side.labels, value]]
    })
  }
}
