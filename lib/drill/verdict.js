'use strict'

/**
 * The verdict of a drill. Pure.
 *
 * The drill's clients see only their own requests. A fleet that the drill has started has no other clients, so their result
 * is the verdict. A running fleet may have lost requests of other clients.
 *
 * @typedef {object} Findings
 * @property {number} requests that the clients sent
 * @property {number} dropped
 * @property {number} recycles
 * @property {{ cut: number, unknown: number } | null} others connections of a fleet that has other clients: those that it
 *   cut, and those that ended with a worker that crashed or gave no account; null: the fleet has no other clients
 * @property {boolean | null} arrived the fleet's workers have received requests; null: they have not reported yet
 * @property {string} url
 * @property {ReadonlyMap<string, number>} errors drops by error
 * @property {string | null} broke why the drill could not be completed
 *
 * @typedef {object} Verdict
 * @property {'clean' | 'dropped' | 'inconclusive'} verdict
 * @property {0 | 1 | 2} exitCode
 * @property {string} sentence
 */

const { count, grouped } = require('../core/units')

/** @param {Findings} findings @returns {Verdict} */
function judge ({ requests, dropped, recycles, others, arrived, url, errors, broke }) {
  const figures = `${grouped(dropped)} dropped of ${count(requests, 'request')} over ${count(recycles, 'recycle')}`
  if (requests === 0) return inconclusive(broke ?? `the load never arrived: no request could be sent to ${url}`)
  const answered = requests - dropped + (errors.get('status') ?? 0)
  if (answered === 0) return inconclusive(`the load never arrived: ${url} answered none of ${count(requests, 'request')} (${kindsOf(errors)})`)
  if (arrived === false && broke === null) return inconclusive(`the load never arrived: ${url} answers, but it is not this fleet`)
  if (dropped > 0) return { verdict: 'dropped', exitCode: 1, sentence: `${figures} (${kindsOf(errors)})` }
  if (broke) return inconclusive(broke)
  if (recycles === 0) return inconclusive('no recycle took place: drill for longer, recycle more often, or lower the budget')
  if (others && others.cut + others.unknown > 0) {
    const said = `${grouped(others.cut)} cut, ${grouped(others.unknown)} ended with a worker that crashed or gave no account`
    return inconclusive(`${figures}, but the fleet has other clients, which may have lost some: of its connections ${said}`)
  }
  return { verdict: 'clean', exitCode: 0, sentence: figures }
}

/** @param {string} why @returns {Verdict} */
function inconclusive (why) {
  return { verdict: 'inconclusive', exitCode: 2, sentence: why }
}

/** @param {ReadonlyMap<string, number>} errors */
function kindsOf (errors) {
  return [...errors].sort(([, a], [, b]) => b - a).map(([error, times]) => `${grouped(times)} ${error}`).join(', ')
}

module.exports = { judge }
