'use strict'

/**
 * The time until a replacement serves: from the verdict (the journal's `worker.condemn`) to the first response of the
 * new pid. There is one worker, so that no other can answer, and two clients that open a connection for each request.
 *
 *     npm run bench:boot -- [--rounds 5] [--recycles 5] [--quick]
 */

const module_ = require('node:module')
const path = require('node:path')
const { timeFirstBytes } = require('./support/first-byte')
const { openBench } = require('./support/rounds')

/** @type {Record<string, Record<string, any>>} */
const VARIANTS = {
  plain: { compileCache: false },
  ...('flushCompileCache' in module_ ? { 'compile cache': { compileCache: true } } : {}),
  '--standby 1': { compileCache: false, standby: 1 }
}

const bench = openBench({ name: 'boot', options: { recycles: '5' }, quick: { recycles: '1' } })
const recycles = Number(bench.values.recycles)

bench.run({
  groups: Object.entries({ 'light app': 'pid.js', 'heavy app': 'heavy.js' }).map(([name, app]) => ({
    name,
    subjects: Object.fromEntries(Object.entries(VARIANTS).map(([variant, options]) => [variant, () => timeFirstBytes(path.join(__dirname, 'apps', app), options, recycles)])),
    beside: ['plain']
  })),
  columns: [
    { key: 'firstByteMs', title: 'verdict → first byte, ms', digits: 1, ratio: true, less: true },
    { key: 'longestMs', title: 'longest, ms', digits: 1, less: true },
    { key: 'readyMs', title: 'verdict → ready, ms', digits: 1, less: true },
    { key: 'bootMs', title: 'a process boots in, ms', digits: 1, less: true },
    { key: 'rssMiB', title: 'RSS of a fresh worker, MiB', digits: 1, less: true },
    { key: 'failed', title: 'failed', digits: 0, total: true }
  ],
  goals: [
    { subject: '--standby 1', key: 'firstByteMs', atMost: 50 },
    { key: 'failed', atMost: 0 }
  ],
  plot: { key: 'firstByteMs', title: 'Verdict → first byte of the replacement, ms' },
  note: 'One worker; medians over the recycles of a round. With --standby the next standby had booted before each recycle.'
})
