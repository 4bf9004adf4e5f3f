'use strict'

/**
 * A feature's part of a worker. The feature is given by its name, which is its folder's: a worker loads those alone
 * that are on, and of them its own part alone.
 * @param {string} name
 * @returns {(kernel: import('./interface').WorkerKernel, settings: Record<string, any>) =>
 *   import('./interface').WorkerPart}
 */
const workerPartOf = name => require(`./${name}/worker`).part

module.exports = { workerPartOf }
