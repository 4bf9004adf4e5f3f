'use strict'

/**
 * Loaded before tap into each test file that tap's runner starts. To know which test an error belongs to that nothing
 * has caught, tap has async hooks on each promise, timer and socket of the process: a sixth of a test's CPU time, and
 * a fleet in it is not the one that users run. Here such an error is that of the test that runs.
 */

const { createRequire } = require('node:module')
const { isMainThread } = require('node:worker_threads')

const at = process.execArgv.indexOf(__filename)
if (at > 0) process.execArgv.splice(at - 1, 2) // children do not inherit it

if (isMainThread) {
  const domains = createRequire(createRequire(__filename).resolve('@tapjs/core'))('async-hook-domain')
  domains.Domain = class {
    /** @param {(error: any, type: string) => void} onerror */
    constructor (onerror) {
      this.onerror = onerror
    }

    destroy () {}
  }
  process.on('uncaughtExceptionMonitor', belongToTheRunning)
}

/** @param {any} error @param {string} type */
function belongToTheRunning (error, type) {
  if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()) return
  let test = require('tap')
  while (test.activeSubtests.size > 0) test = [...test.activeSubtests].at(-1)
  test.hookDomain.onerror(error, type)
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
}
