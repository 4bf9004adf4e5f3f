'use strict'

/**
 * `--health`: each worker is probed. One that boots becomes ready by the first probe that it passes; one that fails
 * them is replaced, or rotated out.
 */

const DETAILS = ['healthPeriod', 'healthTimeout', 'healthFailureThreshold', 'healthInitialDelay', 'healthAction']

/** @typedef {{ healthFailures: number | null }} OfWorker */

/**
 * @typedef {object} Own
 * @property {{ is: (worker: Partial<OfWorker>, options: Pick<import('../../options').ResolvedOptions,
 *   'healthFailureThreshold'>) => boolean, say: (count: number) => string }} unfit workers that are not counted as
 *   ready, by what status() has of them
 */

/** @type {Readonly<import('..').Feature & Own>} */
module.exports = Object.freeze({
  name: 'health',
  options: ({ row, types }) => [
    row('health', '--health <path>', types.urlPath(), null, 'none', 'each worker is probed by GET requests for this ' +
      'path; one that does not pass does not become ready, and one that fails is replaced'),
    row('healthPeriod', '--health-period <time>', types.time(100, '100ms'), 10_000, '10s',
      'time between two probes of a worker', 'healthPeriodMs'),
    row('healthTimeout', '--health-timeout <time>', types.time(10, '10ms'), 1000, '1s',
      'a probe without a response by then has failed', 'healthTimeoutMs'),
    row('healthFailureThreshold', '--health-failure-threshold <n>', types.count(1, 1000), 3, '3',
      'failed probes in a row before a worker is replaced'),
    row('healthInitialDelay', '--health-initial-delay <time>', types.time(0, '0'), 0, '0',
      'time from when a worker listens to its first probe', 'healthInitialDelayMs'),
    row('healthAction', '--health-action <what>', types.oneOf('replace', 'rotate'), 'replace', 'replace',
      'rotate: a worker that fails its probes leaves the rotation, and returns when it passes one; ' +
        'the last one in rotation stays')
  ],
  group: 'Health checks:',
  check ({ health, healthInitialDelayMs, readyTimeoutMs }, { of, refuse }) {
    const idle = health === null && DETAILS.find(name => of(name).text !== undefined)
    if (idle) refuse(idle, `none, unless ${of('health').called} is set`)
    if (health !== null && healthInitialDelayMs >= readyTimeoutMs) {
      refuse('healthInitialDelay',
        `a time below ${of('readyTimeout').called}, by which a worker must have passed a probe`)
    }
  },
  isOn: options => options.health !== null,
  // Serve the connection that comes along: it is the primary's, and counts nowhere
  does: ({ flag }) => ({ probe: { fields: {}, answer: { isTls: flag } } }),
  events: {
    'worker.health': {
      level: ({ why }) => why === null ? 'info' : 'warn',
      sentence: (line, { worker, time, count }) => line.why === null
        ? `${worker(line)} passes its health check (${time(line.tookMs)})`
        : `${worker(line)} fails its health check, ${count(line.failures, 'time')} in a row: ${line.why}`
    }
  },
  warnings: { health: ({ why }) => `no worker can be probed (--health): ${why}` },
  ofWorker: (known, options) => ({ healthFailures: options.health === null ? null : known?.failures ?? 0 }),
  unfit: {
    is: ({ healthFailures }, { healthFailureThreshold }) => (healthFailures ?? 0) >= healthFailureThreshold,
    say: count => count === 1 ? 'fails its health check' : 'fail their health check'
  },
  figures: {
    healthFailures: {
      unit: 'count',
      metric: ['health_failures', 'With --health: failed probes in a row.'],
      limit: {
        reason: 'unhealthy',
        budget: 'maxHealthFailures',
        most: ({ healthAction, healthFailureThreshold }) => healthAction === 'replace' ? healthFailureThreshold : null,
        isOverBy: 'latest',
        sentence: ({ figure }, { count }) => `${count(figure, 'failed probe')} in a row (unhealthy)`
      }
    }
  },
  primary: () => kernel => new (require('./primary').HealthChecks)(kernel),
  worker: true
})
