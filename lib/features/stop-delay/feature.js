'use strict'

/**
 * `--stop-delay`: a stop waits for as long, which is what `preStop: sleep` does in Kubernetes. Readiness is down
 * meanwhile, so that load balancers leave the fleet out; what they still send is served, and each answer closes its
 * connection.
 */

/** @import { ResolvedOptions } from '../../options' */

/**
 * @type {Readonly<import('..').Feature & { beforeStopMs: (options: ResolvedOptions) => number, say: (status: any) =>
 *   string | null }>} `say`: what a stop waits for, by status()
 */
module.exports = Object.freeze({
  name: 'stop-delay',
  options: ({ row, types }) => [
    row('stopDelay', '--stop-delay <time>', types.time(0, '0'), 0, '0',
      'time for which a fleet that is to stop still accepts, while it is not ready and answers say Connection: close',
      'stopDelayMs')
  ],
  group: 'Replacing workers:',
  isOn: ({ stopDelayMs }) => stopDelayMs > 0,
  beforeStopMs: ({ stopDelayMs }) => stopDelayMs,
  say: ({ stopDelay }) => stopDelay && stopDelay.leftMs !== null
    ? `the fleet still accepts (--stop-delay), ${Math.ceil(stopDelay.leftMs / 1000)}s left`
    : null,
  does: () => ({ 'announce-close': { fields: {} } }), // in responses: the fleet stops soon; this worker serves on
  events: {
    'fleet.stop-delay': {
      sentence: ({ delayMs }, { time }) =>
        `the fleet accepts for ${time(delayMs)} more (--stop-delay): it is not ready, and answers say Connection: close`
    }
  },
  primary: () => require('./primary').delayStop,
  worker: true,
  status: {
    key: 'stopDelay',
    lines: ({ leftMs }, paint) => leftMs === null
      ? []
      : [paint('yellow', `stopping in ${Math.ceil(leftMs / 1000)}s (--stop-delay): until then the fleet accepts, ` +
        'and answers say Connection: close')]
  }
})
