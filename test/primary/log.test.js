'use strict'

const t = require('tap')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { openLog } = require('../../lib/primary/log')

/** @param {Record<string, any>} given */
function logOf (given) {
  /** @type {string[]} */
  const written = []
  const outputs = { of: () => ({ log: (/** @type {string} */ text) => written.push(text) }) }
  const options = resolveOptions(given, { parallelism: 2 })
  return { log: openLog(options, /** @type {any} */ (outputs)), written, options }
}

const EVENTS = ['worker.sample', 'worker.spawn', 'fleet.stopping', 'worker.threw', 'fleet.failed'].map(event => ({ event, v: 1, t: 0 }))

t.test('the log has what is of its level or above, and no samples', async t => {
  for (const [logLevel, count] of Object.entries({ debug: 4, info: 3, warn: 2, error: 1 })) {
    const { log, written } = logOf({ log: 'json', logLevel })
    for (const line of EVENTS) log.write(line)
    t.same(written.map(text => JSON.parse(text).event), EVENTS.slice(-count).map(({ event }) => event), logLevel)
  }
})

t.test("Node.js's own warnings are lines of the log", async t => {
  const { log, written } = logOf({ log: 'json' })
  log.warn('(node:1) Warning: careful')
  t.match(JSON.parse(written[0]), { level: 40, pid: process.pid, msg: '(node:1) Warning: careful' })
  for (const format of ['pretty', 'silent']) {
    const { log, written } = logOf({ log: format })
    log.warn('(node:1) Warning: careful')
    t.same(written, ['(node:1) Warning: careful\n'], format)
  }
})

t.test('a start has the options that are not as by default, and all with --log json or --log-level debug', async t => {
  const started = (/** @type {Record<string, any>} */ given) => {
    const { log, written, options } = logOf(given)
    log.write({ v: 1, t: 0, event: 'fleet.start', pid: 1, app: 'app.js', options })
    return JSON.parse(written[0]).options
  }
  t.same(started({ log: 'json', logLevel: 'info', workers: 3, interval: '2s' }), { workers: 3, intervalMs: 2000, log: 'json', logLevel: 'info' })
  for (const given of [{ log: 'json' }, { log: 'json', logLevel: 'debug' }]) {
    t.match(started(given), { workers: 5, intervalMs: 1000, sizing: Object, stopTimes: Object })
  }
})
