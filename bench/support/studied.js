'use strict'

/**
 * A worker as `recycle leak` has it, and an ordinary one: a process that serves an app, `--profiled` without inlining
 * and with the sampling profiler. With `--fleet` three workers, of which one is `--profiled`, again and again. It
 * prints "ready".
 *
 *     node bench/support/studied.js bench/apps/busy.js [--profiled] [--fleet]
 */

const path = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { supervise } = require('../../lib')
const { inliningFlags } = require('../../lib/features/leak-line/inlining-flags')
const { INTERVAL_BYTES } = require('../../lib/features/leak-line/study')
const { part: profileAllocations } = require('../../lib/features/leak-line/worker')

const STUDY_MS = 4000

const [app, ...flags] = process.argv.slice(2)
const isProfiled = flags.includes('--profiled')

async function main () {
  if (flags.includes('--fleet')) return runFleet()
  if (isProfiled) {
    const flags = await inliningFlags()
    for (const flag of flags) setFlagsFromString(flag)
    profileAllocations(
      /** @type {any} */ ({ channel: null, tracker: null, collect: null }), { intervalBytes: INTERVAL_BYTES, flags }
    )
  }
  require(path.resolve(app))
  setImmediate(() => console.log('ready'))
}

async function runFleet () {
  const supervisor = supervise({ app, workers: 3 })
  process.once('SIGTERM', () => supervisor.stop({ now: true }).then(() => process.exit()))
  await supervisor.ready()
  console.log('ready')
  if (!isProfiled) return
  while (!supervisor.isStopping) await supervisor.leak(0, { forMs: STUDY_MS }).catch(() => {}) // it stops
}

main()
