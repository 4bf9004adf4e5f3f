'use strict'

const { count, grouped } = require('../core/units')

/**
 * The first sentence of a report, and whether it is ok. It is not ok if connections ended with a worker that crashed or gave
 * no account: there may have been requests on them that the worker had not read. A client that lost nothing settles the
 * question for its own connections, and so for the fleet if it had no other clients.
 *
 * @typedef {{ ok: boolean, text: string }} Verdict `ok`: certainly nothing was dropped or cut
 *
 * @param {object} figures
 * @param {{ isAlone: boolean } | null} figures.client `isAlone`: the fleet had no other clients
 * @param {number | null} figures.requests null: no record of a client
 * @param {number | null} figures.dropped
 * @param {number} figures.recycles
 * @param {number} figures.cut
 * @param {number} figures.unaccounted connections
 * @param {number} figures.crashes
 * @param {number} figures.crashesInDrains those of them whose losses are in an account
 * @param {number} figures.connectionsAtCrashes
 * @param {number} figures.inFlightAtCrashes
 * @returns {Verdict}
 */
function verdictOf ({ client, requests, dropped, recycles, cut, unaccounted, crashes, crashesInDrains, connectionsAtCrashes, inFlightAtCrashes }) {
  const over = `over ${count(recycles, 'recycle')}`
  const took = connectionsAtCrashes === 0 ? '' : `${count(connectionsAtCrashes, 'connection')}, `
  const alone = crashes - crashesInDrains
  const crashed = `${alone === 0 ? '' : `; ${count(alone, 'crash', 'crashes')} with ${took}${count(inFlightAtCrashes, 'request')} in flight`}${crashesInDrains === 0 ? '' : `; ${count(crashesInDrains, 'crash', 'crashes')} in a drain`}`
  const missed = unaccounted === 0 ? '' : `; ${count(unaccounted, 'connection')} unaccounted for`
  const unseen = unaccounted + connectionsAtCrashes
  const isSeen = client?.isAlone === true
  const doubt = unseen === 0 ? '' : isSeen ? ": all the client's own" : `: ${unseen === 1 ? 'its' : 'their'} requests are not known`
  const isCertain = isSeen || (unseen === 0 && inFlightAtCrashes === 0)
  if (requests === null || dropped === null) {
    return { ok: cut === 0 && isCertain, text: `${grouped(cut)} cut ${over}${crashed}${missed}${doubt}` }
  }
  const cutToo = cut === 0 ? '' : `; the supervisor cut ${grouped(cut)}`
  const text = `${grouped(dropped)} dropped of ${count(requests, 'request')} ${over}${cutToo}${crashed}${missed}${doubt}`
  return { ok: dropped === 0 && cut === 0 && isCertain, text }
}

module.exports = { verdictOf }
