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
  becomeStdout(file)
  process.on('SIGTERM', () => process.exit()) // by a signal's default, what the C library has buffered would be lost
}

/**
 * A file gets the lowest descriptor that is free, so 1, where V8 prints. Unless another thread opens one just then, as the C library's
 * free() does (/proc/sys/vm/overcommit_memory): that is closed again at once.
 * @param {string} file
 */
function becomeStdout (file) {
  const until = performance.now() + 1000
  for (let fd = fs.openSync(file, 'a'); fd !== 1; fd = fs.openSync(file, 'a')) {
    fs.closeSync(fd)
    if (performance.now() > until) throw new Error('standard output is taken')
  }
}
