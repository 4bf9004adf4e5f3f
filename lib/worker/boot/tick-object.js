'use strict'

/**
 * Keeps one of the objects that process.nextTick() makes, of which each request takes several. V8 forgets the type of
 * objects of which none is left at a full collection; where that comes between the first requests and the compilation
 * of nextTick(), V8 never learns the type again, as its keys are symbols, and asks its runtime for each key: 5 µs of
 * CPU time a request from then on, a third of a small one (Node.js 20 to 24). This package's files make the heap grow
 * as a worker starts, so that such a collection comes early.
 */

const { executionAsyncResource } = require('node:async_hooks')

/** @type {object} */
let kept

/** To be called early: it is kept from the end of this turn on. */
function keepTickObject () {
  process.nextTick(() => { kept ??= executionAsyncResource() })
}

module.exports = { keepTickObject }
