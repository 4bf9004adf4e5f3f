'use strict'

/**
 * `--stuck-timeout`: a worker whose event loop has been blocked for so long is replaced. When its replacement is ready,
 * or at once where it leaves already, it is killed, since it cannot do what it is told. One whose loop is free again by
 * then drains as any other.
 */

const { sayPlace, sayRequests } = require('./sentence')

const LONGEST = 200 // of a request
const LONGEST_FRAME = 500
const MOST_FRAMES = 20
const MOST_REQUESTS = 10

/** @param {string} why */
const sayNoStack = why => `where an event loop is blocked is not known: ${why}`

/** @typedef {{ blockedMs: number }} OfWorker */

/** @import { Feature } from '..' */
/** @import { ResolvedOptions } from '../../options' */
/** @import { Row } from '../../tables/reasons' */

/** @type {Readonly<Feature & { longestSilenceMs: (options: ResolvedOptions) => number, request: Row }>} */
module.exports = Object.freeze({
  name: 'blocked',
  options: ({ row, types }) => [
    row('stuckTimeout', '--stuck-timeout <time>', types.time(1000, '1s'), 30_000, '30s',
      'a worker whose event loop has been blocked for this long is replaced; it is killed when its replacement ' +
        'is ready, or at once where it leaves already', 'stuckTimeoutMs')
  ],
  group: 'Memory and other limits:',
  isOn: () => true,
  habits: {
    '--timeout': {
      answer: 'write --stuck-timeout <time>: a worker whose event loop is silent for so long is replaced'
    },
    '-t': {
      answer: 'write --stuck-timeout <time>: a worker whose event loop is silent for so long is replaced; ' +
        'a worker has one thread'
    }
  },
  longestSilenceMs: ({ stuckTimeoutMs }) => stuckTimeoutMs,
  fromWorker: ({ kind, text, count, orNull, listOf, record }) => ({
    where: kind('from the middle of what blocks its event loop, on SIGURG: the stack, innermost first; the request ' +
      'whose code runs, and the `serial` of its connection, as far as is known; and those in flight, latest first', {
      stack: listOf(text(LONGEST_FRAME), MOST_FRAMES),
      request: orNull(text(LONGEST)),
      serial: orNull(count),
      requests: listOf(record({ request: text(LONGEST), count }), MOST_REQUESTS)
    }, 'none', { isAside: true })
  }),
  request: {
    reason: 'stuck',
    backoff: 'soon',
    sentence: ({ silentMs }, { time }) => `its event loop has been blocked for ${time(silentMs)} (stuck)`
  },
  events: {
    'worker.blocked': {
      level: 'warn',
      sentence: (line, { worker, time }) =>
        `${worker(line)} has been blocked for ${time(line.blockedMs)}${sayRequests(line)}${sayPlace(line.stack)}`
    }
  },
  warnings: {
    'blocked-addon': ({ why }) => sayNoStack(why),
    stopped: (line, { worker, time }) => `${worker(line)} has been ` +
      `${line.by === 'signal' ? 'stopped (SIGSTOP)' : 'held by a debugger'} for ${time(line.forMs)}: ` +
      `its clients wait, and it is not replaced for that; kill -CONT ${line.pid}, or recycle recycle ${line.slot}`
  },
  settings: () => ({ mostFrames: MOST_FRAMES, longestFrame: LONGEST_FRAME, mostRequests: MOST_REQUESTS }),
  primary: () => kernel => new (require('./primary').BlockedLoops)(kernel),
  worker: true,
  ofWorker: known => ({ blockedMs: known?.forMs ?? 0 }),
  metrics: [{
    name: 'blocked_event_loops',
    help: 'Event loops that were blocked for --stuck-timeout, or as their worker was killed.',
    labels: [],
    values: ({ blockedLoops }) => blockedLoops === null || blockedLoops === undefined ? [] : [[{}, blockedLoops.count]]
  }],
  status: {
    key: 'blockedLoops',
    lines: ({ count, latest, why }, paint) => [
      ...why === null ? [] : [sayNoStack(why)],
      ...count === 0
        ? []
        : [`${count === 1 ? 'one event loop was' : `${count} event loops were`} ` +
          `blocked${count === 1 ? '' : ', the latest'}${sayRequests(latest)}${sayPlace(latest.stack)}`]
    ].map(line => paint('yellow', line))
  },
  report: 'blockedLoops'
})
