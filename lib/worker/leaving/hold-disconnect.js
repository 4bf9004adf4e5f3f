'use strict'

/**
 * An app that ends its channel to the primary wants to leave its cluster, as Node's documentation shows for an error
 * that nothing has caught: like a signal that it gives itself, so it is replaced first.
 *
 * Node itself calls process.disconnect(), too, from the channel's handle, when the primary has exited.
 */

const { executionAsyncResource } = require('node:async_hooks')
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))

/**
 * @param {(call: string) => boolean} askToLeave false: it is done at once
 * @returns {() => void} does the same to process.disconnect() of another channel
 */
function holdDisconnect (askToLeave) {
  const isNodes = () => 'pendingHandle' in executionAsyncResource()
  /** @param {any} of @param {string} method @param {string} call */
  const hold = (of, method, call) => {
    const original = of[method]
    of[method] = (/** @type {unknown[]} */ ...args) => {
      if (isNodes() || !askToLeave(call)) return Reflect.apply(original, of, args)
      return of === process ? undefined : of
    }
  }
  const holdOwn = () => hold(process, 'disconnect', 'process.disconnect()')
  holdOwn()
  hold(cluster.worker, 'disconnect', 'cluster.worker.disconnect()')
  for (const method of ['destroy', 'kill']) hold(cluster.worker, method, `cluster.worker.${method}()`)
  return holdOwn
}

module.exports = { holdDisconnect }
