'use strict'

/**
 * The one sentence that a report begins with, and whether it is good news.
 *
 * @typedef {{ ok: boolean, text: string }} Verdict `ok`: nothing was dropped, nothing cut
 *
 * @param {object} figures
 * @param {number | null} figures.requests null: no client has said anything
 * @param {number | null} figures.dropped
 * @param {number} figures.recycles
 * @param {number} figures.cut
 * @param {number} figures.crashes
 * @param {number} figures.inFlightAtCrashes
 * @returns {Verdict}
 */
function verdictOf ({ requests, dropped, recycles, cut, crashes, inFlightAtCrashes }) {
  const over = `over ${count(recycles, 'recycle')}`
  const crashed = crashes === 0 ? '' : `; ${count(crashes, 'crash', 'crashes')} with ${count(inFlightAtCrashes, 'request')} in flight`
  if (requests === null || dropped === null) {
    // Nobody else has seen what a crash took with it, so it counts as the supervisor last knew it.
    return { ok: cut === 0 && inFlightAtCrashes === 0, text: `${number(cut)} cut ${over}${crashed}` }
  }
  const cutToo = cut === 0 ? '' : `; the supervisor cut ${number(cut)}`
  return { ok: dropped === 0 && cut === 0, text: `${number(dropped)} dropped of ${count(requests, 'request')} ${over}${cutToo}${crashed}` }
}

/** @param {number} value @param {string} one @param {string} [many] */
function count (value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`
}

/** @param {number} value */
function number (value) {
  return value.toLocaleString('en-US')
}

module.exports = { verdictOf }
