'use strict'

/**
 * The one sentence that a report begins with, and whether it is good news. It is not where connections ended with a worker
 * that crashed or gave no account of them: there may have been requests on them that the worker had not read, which the
 * supervisor cannot know. A client that lost nothing knows, but of its own connections only, so its word settles it
 * where the fleet had no others.
 *
 * @typedef {{ ok: boolean, text: string }} Verdict `ok`: nothing was dropped, nothing cut, and nothing else is possible
 *
 * @param {object} figures
 * @param {{ isAlone: boolean } | null} figures.client `isAlone`: every connection of the fleet was its own
 * @param {number | null} figures.requests null: no client has said anything
 * @param {number | null} figures.dropped
 * @param {number} figures.recycles
 * @param {number} figures.cut
 * @param {number} figures.unaccounted connections
 * @param {number} figures.crashes
 * @param {number} figures.connectionsAtCrashes
 * @param {number} figures.inFlightAtCrashes
 * @returns {Verdict}
 */
function verdictOf ({ client, requests, dropped, recycles, cut, unaccounted, crashes, connectionsAtCrashes, inFlightAtCrashes }) {
  const over = `over ${count(recycles, 'recycle')}`
  const took = connectionsAtCrashes === 0 ? '' : `${count(connectionsAtCrashes, 'connection')}, `
  const crashed = crashes === 0 ? '' : `; ${count(crashes, 'crash', 'crashes')} with ${took}${count(inFlightAtCrashes, 'request')} in flight`
  const missed = unaccounted === 0 ? '' : `; ${count(unaccounted, 'connection')} unaccounted for`
  const unseen = unaccounted + connectionsAtCrashes
  const isSeen = client?.isAlone === true
  const doubt = unseen === 0 ? '' : isSeen ? ": all the client's own" : `: what was on ${unseen === 1 ? 'it' : 'them'} is not known`
  const isCertain = isSeen || (unseen === 0 && inFlightAtCrashes === 0)
  if (requests === null || dropped === null) {
    return { ok: cut === 0 && isCertain, text: `${number(cut)} cut ${over}${crashed}${missed}${doubt}` }
  }
  const cutToo = cut === 0 ? '' : `; the supervisor cut ${number(cut)}`
  const text = `${number(dropped)} dropped of ${count(requests, 'request')} ${over}${cutToo}${crashed}${missed}${doubt}`
  return { ok: dropped === 0 && cut === 0 && isCertain, text }
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
