'use strict'

/**
 * `--on-exception drain`: an exception that the app does not catch costs the request whose code has thrown it. The
 * worker answers that with 500, leaves the rotation, and is replaced as in any recycle; Node.js would end it, with all
 * that it has in flight.
 */

const { LONGEST } = require('./bounds')

/** @type {Readonly<import('..').Feature & { hooks: () => string[], request: import('../../tables/reasons').Row }>} */
module.exports = Object.freeze({
  name: 'exceptions',
  options: ({ row, types }) => [
    row('onException', '--on-exception <what>', types.oneOf('drain', 'exit'), 'drain', 'drain',
      'drain: an exception that the app does not catch is answered with 500, and its worker is drained and replaced; ' +
        'exit: it ends the worker, as in Node.js')
  ],
  group: 'Replacing workers:',
  check ({ plain }, { of, refuse }) {
    if (plain && of('onException').text === 'drain') refuse('onException', `only exit beside ${of('plain').called}`)
  },
  isOn: ({ onException, plain }) => onException === 'drain' && !plain,
  hooks: () => ['uncaught exceptions'],
  fromWorker: ({ kind, text, flag, orNull }) => ({
    uncaught: kind('its app has not caught an exception; `request`: the one whose code threw it, as far as is known, ' +
      "and whether that got 500; `listener`: the app's own, which has it; `isEnding`: this worker ends for it", {
      name: text(LONGEST.name),
      message: text(LONGEST.message),
      stack: text(LONGEST.stack),
      request: orNull(text(LONGEST.request)),
      isAnswered: flag,
      listener: orNull(text(LONGEST.listener)),
      isEnding: flag
    }),
    fatal: kind('before it serves: what Node.js prints of an exception that ends it; of equal ones the primary ' +
      'prints one', { trace: text(LONGEST.trace) })
  }),
  request: {
    reason: 'exception',
    backoff: 'soon',
    sentence: () => 'its app has not caught an exception'
  },
  events: {
    'worker.exception': {
      level: 'warn',
      sentence: (line, { worker, count }) => {
        const by = line.request === null
          ? ''
          : `, thrown by ${line.request}${line.isAnswered ? ', which got 500' : ''}`
        const ending = line.isEnding ? ', and ends the worker, which is replaced first' : ''
        const decides = line.listener ? `; the app's own listener decides (${line.listener})${ending}` : ''
        const often = line.seen > 1 ? ` (${count(line.seen, 'time')} so far)` : ''
        return `${worker(line)} has not caught ${line.name}: ${line.message}${by}${decides}${often}`
      }
    }
  },
  primary: () => kernel => new (require('./primary').Exceptions)(kernel),
  worker: true,
  metrics: [{
    name: 'uncaught_exceptions',
    help: 'Exceptions that the app has not caught, and that have not ended its worker.',
    labels: [],
    values: ({ exceptions }) => exceptions === null || exceptions === undefined ? [] : [[{}, exceptions.count]]
  }],
  status: {
    key: 'exceptions',
    lines: ({ count, kinds: [most] }, paint) => count === 0
      ? []
      : [paint('yellow', `${count === 1 ? 'one exception was' : `${count} exceptions were`} not caught, ` +
        `${count === 1 ? '' : `${most.count} of them `}${most.name}: ${most.message}` +
        (most.request === null ? '' : ` by ${most.request}`))]
  },
  report: 'exceptions'
})
