'use strict'

/**
 * The metrics as docs/metrics.md has them, which other tests compare with the code; and which of them a PromQL query
 * names.
 */

const { page, rows } = require('./docs')

const SERIES = { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] }
const OF_PROMETHEUS = ['job', 'instance', 'le']

/** Labels by the name of a time series. @type {Map<string, string[]>} */
const LABELS = new Map(rows(table(page('docs/metrics.md').text)).flatMap(([name, type, labels]) =>
  SERIES[/** @type {keyof SERIES} */ (type)].map(suffix => /** @type {[string, string[]]} */ ([name.replaceAll('`', '') + suffix, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label)]))))

/** @param {string} text */
function table (text) {
  return text.slice(text.indexOf('| metric |')).split('\n\n')[0]
}

/**
 * @param {string} query PromQL, each series with all its labels in braces behind it
 * @returns {{ series: string[], flaws: string[] }} the series that it names, and what there is not
 */
function check (query) {
  const series = [...query.matchAll(/\brecycle_\w+/g)].map(([name]) => name)
  const known = [...new Set(series.flatMap(name => LABELS.get(name) ?? []))]
  const flaws = series.filter(name => !LABELS.has(name)).map(name => `there is no ${name}`)
  for (const [, name, selector = ''] of query.matchAll(/\b(recycle_\w+)(?:\{([^}]*)\})?/g)) {
    for (const [, label] of selector.matchAll(/(\w+) *[=!]~?/g)) if (![...LABELS.get(name) ?? [], ...OF_PROMETHEUS].includes(label)) flaws.push(`${name} has no label ${label}`)
  }
  for (const [, labels] of query.matchAll(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g)) {
    for (const label of labels.split(/, */)) if (![...known, ...OF_PROMETHEUS].includes(label)) flaws.push(`nothing in it has a label ${label}`)
  }
  return { series, flaws }
}

module.exports = { LABELS, check }
