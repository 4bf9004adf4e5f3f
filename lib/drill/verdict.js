'use strict'

/**
 * What a drill has shown. Pure.
 *
 * The clients know what became of their own requests, and of no others. A fleet that the drill has started has no other
 * clients, so that their word is the verdict; of one that runs elsewhere more may have been lost than they have seen.
 *
 * @typedef {object} Findings
 * @property {number} requests that the clients sent
 * @property {number} dropped
 * @property {number} recycles
 * @property {{ cut: number, unknown: number } | null} others connections of a fleet that has other clients: those that it cut, and
 *   those that ended with a worker that crashed or gave no account; null: it has none
 * @property {boolean | null} arrived the fleet's workers have seen something of it; null: there was no time to ask them
 * @property {string} url
 * @property {ReadonlyMap<string, number>} errors drops by error
 * @property {string | null} broke why it could not go on to its end
 *
 * @typedef {object} Verdict
 * @property {'clean' | 'dropped' | 'inconclusive'} verdict
 * @property {0 | 1 | 2} exitCode
 * @property {string} sentence
 */

/** @param {Findings} findings @returns {Verdict} */
function judge ({ requests, dropped, recycles, others, arrived, url, errors, broke }) {
  const figures = `${grouped(dropped)} dropped of ${count(requests, 'request')} over ${count(recycles, 'recycle')}`
  if (requests === 0) return inconclusive(broke ?? `the load never arrived: nothing could be sent to ${url}`)
  const answered = requests - dropped + (errors.get('status') ?? 0)
  if (answered === 0) return inconclusive(`the load never arrived: ${url} answered none of ${count(requests, 'request')} (${kindsOf(errors)})`)
  if (arrived === false && broke === null) return inconclusive(`the load never arrived: ${url} answers, but it is not this fleet that does`)
  if (dropped > 0) return { verdict: 'dropped', exitCode: 1, sentence: `${figures} (${kindsOf(errors)})` }
  if (broke) return inconclusive(broke)
  if (recycles === 0) return inconclusive('no recycle took place, so nothing is known about them: let it last longer, recycle more often, or lower the budget')
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

/** @param {number} n @param {string} what */
function count (n, what) {
  return `${grouped(n)} ${what}${n === 1 ? '' : 's'}`
}

/** @param {number} n */
function grouped (n) {
  return n.toLocaleString('en-US')
}

module.exports = { judge, count, grouped }
