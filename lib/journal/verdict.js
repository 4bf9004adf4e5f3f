'use strict'

const { count, grouped } = require('../core/units')
const { span } = require('./gap.cjs')
/** @import { Gap } from '../tools/report/gaps' */

/**
 * The first sentence of a report, and whether it is ok. It is not ok if connections ended with a worker that crashed or
 * gave no account: there may have been requests on them that the worker had not read. A client that lost nothing
 * settles the question for its own connections, and so for the fleet if it had no other clients.
 *
 * Where something is not recorded, nothing is ok either: it is known to have failed, or it is not known.
 *
 * @typedef {object} Verdict
 * @property {0 | 1 | 2} exitCode 2: nothing was dropped or cut as far as is recorded, and the journal has gaps
 * @property {boolean} ok nothing was dropped, nothing cut, and no connection ended with a worker that crashed or gave
 *   no account, unless every connection was the client's
 * @property {string} text the sentence that the report begins with
 *
 * @param {object} figures
 * @param {{ isAlone: boolean, kills: number } | null} figures.client `isAlone`: the fleet had no other clients;
 *   `kills`: it has killed workers
 * @param {readonly Gap[]} figures.gaps what is not recorded
 * @param {number | null} figures.requests null: no record of a client
 * @param {number | null} figures.dropped @param {number} figures.recycles @param {number} figures.cut
 * @param {number} figures.unaccounted connections
 * @param {number} figures.crashes @param {number} figures.crashesInDrains those of them whose losses are in an account
 * @param {number} figures.connectionsAtCrashes @param {number} figures.inFlightAtCrashes @returns {Verdict}
 */
function verdictOf ({
  client, gaps, requests, dropped, recycles, cut, unaccounted, crashes, crashesInDrains, connectionsAtCrashes,
  inFlightAtCrashes
}) {
  const kills = client?.kills ?? 0
  const done = [
    ...recycles > 0 || kills === 0 ? [count(recycles, 'recycle')] : [],
    ...kills > 0 ? [count(kills, 'kill')] : []
  ]
  const over = `over ${done.join(' and ')}`
  const took = connectionsAtCrashes === 0 ? '' : `${count(connectionsAtCrashes, 'connection')}, `
  const alone = crashes - crashesInDrains
  const inFlight = `${took}${count(inFlightAtCrashes, 'request')} in flight`
  const crashed = (alone === 0 ? '' : `; ${count(alone, 'crash', 'crashes')} with ${inFlight}`) +
    (crashesInDrains === 0 ? '' : `; ${count(crashesInDrains, 'crash', 'crashes')} in a drain`)
  const missed = unaccounted === 0 ? '' : `; ${count(unaccounted, 'connection')} unaccounted for`
  const unseen = unaccounted + connectionsAtCrashes
  const isSeen = client?.isAlone === true
  const doubt = unseen === 0
    ? ''
    : isSeen ? ": all the client's own" : `: ${unseen === 1 ? 'its' : 'their'} requests are not known`
  const isCertain = isSeen || (unseen === 0 && inFlightAtCrashes === 0)
  if (requests === null || dropped === null) {
    return judged(cut === 0 && isCertain, `${grouped(cut)} cut ${over}${crashed}${missed}${doubt}`, gaps)
  }
  const cutToo = cut === 0 ? '' : `; the supervisor cut ${grouped(cut)}`
  const text = `${grouped(dropped)} dropped of ${count(requests, 'request')} ` +
    `${over}${cutToo}${crashed}${missed}${doubt}`
  return judged(dropped === 0 && cut === 0 && isCertain, text, gaps)
}

/** @param {boolean} isClean as far as recorded @param {string} text @param {readonly Gap[]} gaps @returns {Verdict} */
function judged (isClean, text, gaps) {
  if (gaps.length === 0) return { ok: isClean, exitCode: isClean ? 0 : 1, text }
  const [first, ...more] = gaps
  const others = more.length === 0 ? '' : `, and ${count(more.length, 'other gap')}`
  const unknown = `incomplete: nothing is known ${span(first)} (${first.why})${others}`
  return isClean
    ? { ok: false, exitCode: 2, text: `${unknown}; recorded: ${text}` }
    : { ok: false, exitCode: 1, text: `${text}; ${unknown}` }
}

module.exports = { verdictOf }
