'use strict'

/**
 * A feature's part of a worker. The feature is given by its name, which is its folder's: a worker loads those alone
 * that are on, and of them its own part alone.
 * @param {string} name
 * @returns {(kernel: import('./interface').WorkerKernel, settings: Record<string, unknown>) =>
 *   import('./interface').WorkerPart}
 */
const workerPartOf = name => require(`./${name}/worker`).part

/**
 * A feature's part of the report: its figures, and their lines in the terminal, whose first parameter has their type.
 * @param {string} name
 * @returns {{ Figures: new () => import('.').Figures, linesOf: (figures: any, to: import('.').Terminal) => string[] }}
 */
const reportPartOf = name => require(`./${name}/report`)

module.exports = { reportPartOf, workerPartOf }
