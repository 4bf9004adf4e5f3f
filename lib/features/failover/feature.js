'use strict'

/**
 * Connections outlive their worker: the primary has a descriptor of each one that lasts, and when a worker dies,
 * whatever the cause, gives them to its siblings, with a request that it had not begun to answer where that may be
 * handled twice. A request that may not is answered with 502.
 */

/** @param {string} why */
const sayNone = why => `connections die with their worker: ${why}`

/**
 * @typedef {object} Own
 * @property {(shapes: import('..').Shapes) => Record<string, import('../../core/shape').Shape>} beat fields that its
 *   part in a worker adds to the heartbeat
 * @property {(isLibuvHooked: boolean | null) => string[]} hooks see features/index.js
 * @property {(beat: Record<string, unknown>) => number} ownBytes how much of a worker's memory is this feature's, and
 *   not the app's, by a heartbeat
 */

/** @type {Readonly<import('..').Feature & Own>} */
module.exports = Object.freeze({
  name: 'failover',
  options: ({ row, types }) => [
    row('failover', '--no-failover', types.boolean(), true, 'on',
      'the connections of a worker that dies die with it, instead of going on in another worker')
  ],
  group: 'Replacing workers:',
  isOn: ({ failover, plain }) => failover && !plain,
  hooks: isLibuvHooked =>
    isLibuvHooked === null ? [] : [`${isLibuvHooked ? 'reads and ' : ''}last writes of connections`],
  // Of the descriptor of each connection that lasts: pass them by this socket
  does: () => ({ duplicates: { fields: {} } }),
  beat: ({ count }) => ({ noteBytes: count }),
  ownBytes: beat => beat.noteBytes ?? 0,
  warnings: {
    'failover-addon': ({ why }) => sayNone(why),
    'failover-descriptors': ({ most }) => `the primary has descriptors for ${most} connections: younger ones die ` +
      'with their worker; raise the limit of open files (ulimit -n, LimitNOFILE=)'
  },
  primary: () => require('./primary').failOver,
  worker: true,
  metrics: [{
    name: 'failover_connections',
    help: 'Connections that the primary can give to another worker if theirs dies.',
    labels: [],
    values: ({ failover }) => failover && 'connections' in failover ? [[{}, failover.connections]] : []
  }, {
    name: 'failover_results',
    help: 'What has become of connections whose worker died: moved, moved with their request (replayed), ' +
      'answered with 502, cut.',
    labels: ['result'],
    values: ({ failover }) => failover && 'connections' in failover
      ? /** @type {const} */ (['moved', 'replayed', 'answered', 'cut']).map(result => [{ result }, failover[result]])
      : []
  }],
  status: {
    key: 'failover',
    lines: ({ why, connections, most, moved, replayed, answered, cut }, paint) => {
      if (why !== undefined) return [paint('yellow', sayNone(why))]
      const sum = moved + replayed + answered + cut
      return [
        ...connections >= most
          ? [paint('yellow',
            `${connections} connections would outlive their worker, others not: the primary has no more descriptors`)]
          : [],
        ...sum > 0
          ? [`of connections whose worker died, ${moved + replayed} went on in another ` +
            `one${replayed > 0 ? `, ${replayed} with their request` : ''}; ${answered} got 502, ${cut} were cut`]
          : []
      ]
    }
  }
})
