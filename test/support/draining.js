'use strict'

/** A fleet whose app sends events that a test waits for, such as the start of its drain, by process.send({ what }). */

const { startFleet, sumOfEnds } = require('./fleet')

/**
 * @param {any} t tap's
 * @param {string} fixture one that sends `drain` on recycle:drain
 * @param {Record<string, any>} [options] of supervise(); one worker unless said otherwise
 */
async function startTellingFleet (t, fixture, options = {}) {
  return startFleet(t, fixture, { workers: 1, ...options })
}

/**
 * Calls `act`, and resolves when one more message of this kind has come.
 *
 * @param {import('./fleet').Events} told
 * @param {string} what
 * @param {() => void} act
 */
async function afterTold (told, what, act) {
  const next = told.until(what, { count: told.all(what).length + 1 })
  act()
  return next
}

/**
 * Begins to recycle a slot; resolves when the old worker has begun to drain.
 *
 * @param {{ supervisor: any, told: import('./fleet').Events }} fleet
 * @param {number} [slot]
 * @returns {Promise<{ pid: number, recycled: Promise<Record<string, any>> }>} the old pid; the journal's line
 */
async function beginDrain ({ supervisor, told }, slot = 0) {
  let recycled = Promise.reject(new Error('never begun'))
  recycled.catch(() => {})
  const { pid } = await afterTold(told, 'drain', () => {
    recycled = supervisor.recycle(slot)
    recycled.catch(() => {}) // a caller that awaits it gets the rejection
  })
  return { pid, recycled }
}

/** No connection was cut or is unaccounted for. @param {any} t tap's @param {Record<string, any>} line `recycled` */
function checkAccount (t, line) {
  const {
    connections, inFlight, finished, moved, closedByClient, closedAfterResponse, closedIdle, cut, unacked, cuts
  } = line
  const account = JSON.stringify({
    connections, inFlight, finished, moved, closedByClient, closedAfterResponse, closedIdle, cut, unacked
  })
  t.equal(cut, 0, `nothing is cut: ${account}`)
  t.same(cuts, [])
  t.equal(unacked, 0)
  t.equal(sumOfEnds(line), connections, `the audit adds up: ${account}`)
}

module.exports = { startTellingFleet, afterTold, beginDrain, checkAccount }
