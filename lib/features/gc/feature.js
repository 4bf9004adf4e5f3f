'use strict'

/**
 * When a worker collects its garbage: on request (`recycle gc`), in place of a recycle (`--on-budget collect`), and as
 * late as V8's flags have it (`--gc`, `--heap`). The collection itself is the kernel's, and so are the pauses that each
 * worker measures.
 *
 * @typedef {import('../../lines').JournalLine<'collected'>} Collected
 *
 * @typedef {object} Commands
 * @property {(slot: number) => Promise<Collected>} gc has a worker collect its garbage out of rotation, so
 *   that no request waits for it; resolves with the journal's `collected` line. Throws RECYCLE_NO_SLOT,
 *   RECYCLE_NOT_DONE, RECYCLE_STOPPED
 */

/** @type {Readonly<import('..').Feature & { v8: typeof import('..').v8Of }>} */
module.exports = Object.freeze({
  name: 'gc',
  options: ({ row, types }) => [
    row('gc', '--gc <profile>', types.oneOf('default', 'huge-heap', 'no-mark-sweep'), 'default', 'default',
      'V8 flags for the workers: default, huge-heap or no-mark-sweep; the last two need --max-rss'),
    row('heap', '--heap <default|auto>', types.oneOf('default', 'auto'), 'default', 'default',
      "auto: V8's limit for the heap of a worker follows --max-rss, which it needs, with --gc default"),
    row('onBudget', '--on-budget <recycle|collect>', types.oneOf('recycle', 'collect'), 'recycle', 'recycle',
      'collect: a worker over budget collects its garbage out of rotation, and is recycled only if that is not enough')
  ],
  group: 'Memory and other limits:',
  isOn: () => true, // for the command
  check: (options, by) => require('./profiles').check(options, by),
  v8 (options, nodeMajor) {
    const { gc, heap, maxRssBytes } = options
    if (heap === 'auto') return { flags: [require('./heap-limit').oldSpaceFlag(options)], collectsFirst: false }
    // As its limits follow a mark-sweep; see profiles.js
    const collectsFirst = gc !== 'default' && nodeMajor >= 22 && nodeMajor < 24
    return { flags: require('./profiles').gcFlags(gc, { maxRssBytes, nodeMajor }), collectsFirst }
  },
  commands: ({ slots }) => ({ gc: { target: slots } }),
  command: () => (program, { addFleetName, verb, act, count }) => addFleetName(
    verb(program, 'gc', 'Makes a worker collect its garbage, out of rotation meanwhile: no request waits for it.')
      .argument('<slot|all>')
  )
    .action((target, _name, given, command) =>
      act(command, { target }, ({ done }, name) => `${name}: ${count(done.length, 'worker')} collected`)),
  events: {
    collected: {
      sentence: (line, { size, time }) => `collected slot ${line.slot} (${line.pid}): RSS ${size(line.rssBefore)} → ` +
        `${size(line.rssAfter)}, heap ${size(line.heapUsedBefore)} → ${size(line.heapUsedAfter)} ` +
        `in ${time(line.pauseMs)}${line.isEnough === false ? '; not enough' : ''}`,
      counter: {
        name: 'collections_total',
        help: 'Workers that were taken out of rotation to collect their garbage, by reason.',
        reasons: ['rss', 'hard-rss', 'requested']
      }
    }
  },
  warnings: {
    'heap-limit': (line, { size }) => {
      const danger = line.softBytes === null
        ? `above ${size(line.limitBytes)} of memory: the kernel may kill the worker before V8 collects`
        : `below the budget of ${size(line.softBytes)}: V8 may end the worker before it is replaced`
      return `V8 lets the heap of a worker grow to ${size(line.heapLimitBytes)}, ${danger}; ` +
        `set --heap auto (with --max-rss), or --node-option ${line.flag}`
    }
  },
  primary: () => kernel => new (require('./primary').GarbageCollection)(kernel)
})
