'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * A feature's part of a worker. The feature is given by its name, which is its folder's: a worker loads those alone
 * that are on, and of them its own part alone, where that has a file of its own.
 *
 * @param {string} name
 * @returns {(kernel: import('./interface').WorkerKernel, settings: Record<string, any>) =>
 *   import('./interface').WorkerPart}
 */
function workerPartOf (name) {
  return fs.existsSync(path.join(__dirname, name, 'worker.js'))
    ? require(`./${name}/worker`).part
    : require(`./${name}/feature`).worker()
}

module.exports = { workerPartOf }
