'use strict'

/**
 * A collection, for a worker out of rotation: it blocks the thread until it is done.
 *
 * A full collection frees objects but does not return their pages to the system: from V8 12 on (Node 22) freed pages
 * stay in a pool until a last-resort collection; before, the next collection releases pages and array buffers. Measured
 * from 800 MB back to 60–90 MB: two collections on Node 20, one and a last-resort one on 22, 24 and 26.
 */

const { performance } = require('node:perf_hooks')
const v8 = require('node:v8')
const vm = require('node:vm')

const LAST_RESORT = { type: 'major', execution: 'sync', flavor: 'last-resort' }
const KEEPS_PAGES = Number(process.versions.v8.split('.')[0]) >= 12

/** @typedef {{ rssBytes: number, heapUsedBytes: number, externalBytes: number }} Usage */

/** @returns {{ before: Usage, after: Usage, pauseMs: number }} */
function collect () {
  const gc = exposeGc()
  const before = usage()
  const began = performance.now()
  gc()
  gc(KEEPS_PAGES ? LAST_RESORT : undefined)
  return { pauseMs: performance.now() - began, before, after: usage() }
}

/** @returns {Usage} */
function usage () {
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rssBytes: rss, heapUsedBytes: heapUsed, externalBytes: external }
}

/**
 * V8 adds `gc` to every context that is created while the flag is set; the app's context does not have it.
 * @returns {(how?: object) => void}
 */
function exposeGc () {
  const isExposed = typeof globalThis.gc === 'function'
  if (!isExposed) v8.setFlagsFromString('--expose-gc')
  const gc = vm.runInNewContext('gc')
  if (!isExposed) v8.setFlagsFromString('--no-expose-gc')
  return gc
}

module.exports = { collect, exposeGc }
