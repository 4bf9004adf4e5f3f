'use strict'

/**
 * The sum of the metrics of several processes, as prom-client's AggregatorRegistry makes it: counters and histograms
 * are added up, gauges as their `aggregator` says. What a process had that is gone still counts, or each counter would
 * go back at a recycle.
 *
 * @typedef {{ name: string, type: string, values: { labels: Record<string, any>, value: any, metricName?: string }[] }}
 *   Metric as prom-client has it in JSON
 */

const OWN = /^recycle_/

/** @param {unknown} value @returns {value is Metric} */
function isMetric (value) {
  const { name, type, help, values } = /** @type {any} */ (value ?? {})
  return typeof name === 'string' && !OWN.test(name) && typeof type === 'string' && typeof help === 'string' && Array.isArray(values)
}

/** @param {string} json @returns {Metric[]} @throws {Error} where it is not of prom-client */
function parseMetrics (json) {
  const metrics = JSON.parse(json)
  if (!Array.isArray(metrics)) throw new Error('they are no list')
  return metrics.filter(isMetric)
}

/** The figures that still count of a process that is gone. @param {Metric[]} metrics */
function lasting (metrics) {
  return metrics.flatMap(metric => {
    if (metric.type === 'counter' || metric.type === 'histogram') return [metric]
    if (metric.type === 'summary') return [{ ...metric, values: metric.values.filter(({ labels }) => labels?.quantile === undefined) }]
    return []
  })
}

/** @param {Metric[][]} all of each process @returns {import('prom-client').Registry} */
function sumOf (all) {
  return require('prom-client').AggregatorRegistry.aggregate(/** @type {any} */ (all))
}

module.exports = { parseMetrics, lasting, sumOf }
