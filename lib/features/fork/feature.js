'use strict'

/**
 * `--fork mold`: workers are copies of a process that has loaded the app. The mold loads the app up to its first
 * `listen()`, warms it up and stands still (original.js, mold.js); the primary asks it for copies (primary.js,
 * forked-process.js).
 */

/** @typedef {Pick<import('../../tables/options').Options, 'metric' | 'sizing'> & { fork?: string | null }} Given */

const isForking = (/** @type {Given} */ { fork }) => fork === 'mold'

/**
 * @typedef {object} Own
 * @property {Record<string, string>} presets what options of the kernel are with it unless they are given, by name, for
 *   the help
 * @property {(options: Given) => { metric?: 'pss' | 'uss' }} resolve options that follow from it
 * @property {(options: Given) => string[]} v8Flags of the workers
 * @property {(options: Given) => number} processes how many there are of it beside the workers
 */

/** @type {Readonly<import('..').Feature & Own>} */
module.exports = Object.freeze({
  name: 'fork',
  options: ({ row, types }) => [
    row('fork', '--fork <spawn|mold>', types.oneOf('spawn', 'mold'), 'spawn', 'spawn', 'mold: workers are forked ' +
      'from a process that has loaded the app, in milliseconds, and share its memory; Linux only'),
    row('warm', '--warm <n>', types.count(0, 1e6), 0, '0', 'with --fork mold: requests (GET /) that the app answers ' +
      'before workers are forked, so that its code is compiled'),
    row('forkUnsafe', '--fork-unsafe', types.boolean(), false, 'off', 'with --fork mold: fork although the app has ' +
      'opened files or connections, or started threads, that workers cannot share')
  ],
  group: 'Replacing workers:',
  presets: { metric: 'uss with --fork mold, or pss with --max-rss auto too' },
  // Most of a copy's resident memory is shared; only PSS adds up to what the container uses.
  resolve: options =>
    isForking(options) && options.metric === null ? { metric: options.sizing.isAutoBudget ? 'pss' : 'uss' } : {},
  check ({ fork, warm, forkUnsafe, standby, nodeOptions, plain }, { of, refuse }) {
    if (fork !== 'mold') {
      if (warm > 0) refuse('warm', `0, unless ${of('fork').called} is mold`)
      if (forkUnsafe) refuse('forkUnsafe', `false, unless ${of('fork').called} is mold`)
      return
    }
    if (plain) refuse('fork', `only spawn beside ${of('plain').called}`)
    if (standby > 0) refuse('standby', `0 with ${of('fork').called} mold: a forked replacement is as fast`)
    if (nodeOptions.some(flag => flag.startsWith('--inspect'))) {
      refuse('nodeOption',
        `no --inspect with ${of('fork').called} mold: a forked process has no thread for the inspector`)
    }
  },
  habits: { '--preload': { answer: 'write --fork mold: workers are forked from a process that has loaded the app' } },
  isOn: isForking,
  refuse: () => require('./primary').refuse(),
  // V8 and Node then keep no thread that works while the app's does: a copy would lack it.
  v8Flags: options => isForking(options) ? ['--single-threaded', '--v8-pool-size=0'] : [],
  processes: options => isForking(options) ? 1 : 0,
  api: ['onFork', 'warm'],
  events: {
    'mold.spawn': { sentence: ({ pid }) => `a mold loads the app (${pid})` },
    'mold.ready': { sentence: ({ pid, readyMs }, { time }) => `mold ready (${pid}) in ${time(readyMs)}` },
    'mold.exit': { sentence: ({ pid, why }) => `mold ended (${pid}): ${why}` }
  },
  warnings: { 'fork-failed': ({ why }) => `${why}: workers are spawned from here on, until a reload` },
  primary: () => require('./primary').forkWorkers
})
