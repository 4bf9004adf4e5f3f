'use strict'

/** In a worker out of rotation: writes a heap snapshot, which blocks this thread until it is done. */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const v8 = require('node:v8')

/** @returns {import('../interface').WorkerPart} */
function writeHeapdump () {
  return {
    tasks: {
      heapdump ({ file }) { // absolute, there already and empty
        const began = performance.now()
        v8.writeHeapSnapshot(file)
        return { pauseMs: performance.now() - began, bytes: fs.statSync(file).size }
      }
    }
  }
}

module.exports = { part: writeHeapdump }
