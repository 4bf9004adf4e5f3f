'use strict'

/**
 * Loaded in each worker by --require, with --trace-gc: the output of V8 goes to GC_TRACE_DIR/<pid>. The first line is
 * the epoch of the times that follow.
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
  // With the default action of a signal, the buffer of the C library would be lost
  process.on('SIGTERM', () => process.exit())
}

/**
 * A file gets the lowest free descriptor: 1, where V8 prints, unless another thread opens a file just then, as the C
 * library's free() does (/proc/sys/vm/overcommit_memory). Such a file is closed again at once, so this tries again.
 * @param {string} file
 */
function becomeStdout (file) {
  const until = performance.now() + 1000
  for (let fd = fs.openSync(file, 'a'); fd !== 1; fd = fs.openSync(file, 'a')) {
    fs.closeSync(fd)
    if (performance.now() > until) throw new Error('standard output is taken')
  }
}
