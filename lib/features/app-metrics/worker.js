'use strict'

/**
 * In a worker: finds the app's prom-client among the modules that it has loaded, and says what is in it. The app needs
 * no change.
 */

const path = require('node:path')

const MODULE = path.join(path.sep, 'prom-client', 'index.js')

/** @typedef {{ getMetricsAsJSON: () => Promise<unknown[]> | unknown[] }} Registry prom-client's */

/**
 * @param {import('../interface').WorkerKernel} kernel @param {{ longest: number }} settings of its JSON, in characters
 * @returns {import('../interface').WorkerPart}
 */
function tellMetrics ({ channel }, { longest }) {
  /** Of the app's own making, which no module exports. @type {Set<Registry>} */
  const exposed = new Set()

  async function tell () {
    const registries = [...new Set([...exposed, ...loadedRegistries()])]
    const metrics = (await Promise.all(registries.map(registry => registry.getMetricsAsJSON()))).flat()
    const json = metrics.length === 0 ? null : JSON.stringify(metrics)
    if (channel.isUp) channel.send('app-metrics', { json: json !== null && json.length <= longest ? json : null })
  }

  channel.on({
    // A collect() of the app's has thrown
    'app-metrics': () => { tell().catch(() => channel.send('app-metrics', { json: null })) }
  })
  return {
    drained: () => tell().catch(() => {}),
    api: { exposeMetrics: (/** @type {Registry} */ registry) => { exposed.add(registry) } }
  }
}

/** Several packages may each have a copy. @returns {Registry[]} */
function loadedRegistries () {
  return Object.keys(require.cache)
    .flatMap(file => file.endsWith(MODULE) ? require.cache[file]?.exports?.register ?? [] : [])
    .filter(({ getMetricsAsJSON }) => typeof getMetricsAsJSON === 'function')
}

module.exports = { part: tellMetrics }
