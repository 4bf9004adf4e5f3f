'use strict'

/**
 * In each worker, by --require, beside --trace-gc: what V8 prints goes to a file of the worker's own, GC_TRACE_DIR/<pid>. The
 * first line is the epoch of the times that follow.
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const fs = require('node:fs')
const path = require('node:path')
const { isMainThread } = require('node:worker_threads')

if (cluster.isWorker && isMainThread && process.env.GC_TRACE_DIR) {
  const file = path.join(process.env.GC_TRACE_DIR, String(process.pid))
  fs.writeFileSync(file, `${performance.timeOrigin}\n`)
  fs.closeSync(1)
  const fd = fs.openSync(file, 'a') // the lowest that is free: 1 again, where V8 prints
  if (fd !== 1) throw new Error(`standard output is ${fd}`)
  process.on('SIGTERM', () => process.exit()) // by a signal's default, what the C library has buffered would be lost
}
