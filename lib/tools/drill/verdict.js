'use strict'

/**
 * The verdict of a drill. Pure.
 *
 * It takes both witnesses: the drill's clients, which see only their own requests, and the supervisor's audit. A fleet
 * may have other clients: a running one its own, and an app that the drill has started one that connects to itself.
 *
 * @typedef {object} Findings
 * @property {number} requests that the clients sent
 * @property {number} dropped @property {number} recycles
 * @property {number | null} kills null: none was asked for
 * @property {readonly number[] | null} [adoptedMs] from each kill of the primary until the next one had adopted the
 *   workers; null: none was asked for
 * @property {number | null} reopened connections that clients have opened in place of others; null: each request has
 *   its own
 * @property {boolean} isAlone the drill has started the fleet
 * @property {{ cut: number, unknown: number }} supervisor connections that it cut, and those that it cannot account for
 * @property {boolean | null} arrived the fleet's workers have received requests; null: they have not reported yet
 * @property {boolean} [isDeadly] workers of the drill's own fleet have died with requests in flight
 * @property {readonly { address: string, slots: number[] }[]} uneven addresses on which some workers alone listen
 * @property {string} url
 * @property {ReadonlyMap<string, number>} errors drops by error
 * @property {ReadonlyMap<number, number>} statuses those of error `status`, by the status
 * @property {string | null} broke why the drill could not be completed
 *
 * @typedef {object} Verdict
 * @property {'clean' | 'dropped' | 'uneven' | 'inconclusive'} verdict @property {0 | 1 | 2} exitCode
 * @property {string} sentence
 */

const { listUneven } = require('../../core/address')
const { count, formatTime, grouped } = require('../../core/units')

/** @param {Findings} findings @returns {Verdict} */
function judge ({
  requests, dropped, recycles, kills, adoptedMs = null, reopened, isAlone, supervisor, arrived, isDeadly = false,
  uneven, url, errors, statuses, broke
}) {
  const isWithKills = kills !== null || adoptedMs !== null
  const over = [
    ...recycles > 0 || !isWithKills ? [count(recycles, 'recycle')] : [],
    ...kills === null ? [] : [count(kills, 'kill')],
    ...adoptedMs === null ? [] : [`${count(adoptedMs.length, 'kill')} of the supervisor`]
  ].join(' and ')
  const longest = adoptedMs?.length
    ? `, supervised again within ${formatTime(Math.ceil(Math.max(...adoptedMs) / 100) * 100)}`
    : ''
  const figures = `${grouped(dropped)} dropped of ${count(requests, 'request')} over ` +
    `${over}${longest}${!isWithKills || reopened === null ? '' : `, ${count(reopened, 'connection')} reopened`}`
  const kinds = kindsOf(errors, statuses)
  if (requests === 0) return inconclusive(broke ?? `the load never arrived: no request could be sent to ${url}`)
  const answered = requests - dropped + (errors.get('status') ?? 0)
  if (answered === 0 && !isDeadly) {
    return inconclusive(`the load never arrived: ${url} answered none of ${count(requests, 'request')} (${kinds})`)
  }
  if (arrived === false && !isDeadly && broke === null) {
    return inconclusive(`the load never arrived: ${url} answers, but it is not this fleet`)
  }
  if (dropped > 0) return { verdict: 'dropped', exitCode: 1, sentence: `${figures} (${kinds})` }
  if (uneven.length > 0) {
    return {
      verdict: 'uneven',
      exitCode: 1,
      sentence: `${figures}, but the workers listen on different addresses: ${listUneven(uneven)}`
    }
  }
  if (broke) return inconclusive(broke)
  if (kills === 0) return inconclusive('no worker was killed: drill for longer, or kill more often')
  if (adoptedMs?.length === 0) {
    return inconclusive('the supervisor was not killed: drill for longer, or kill it more often')
  }
  if (recycles === 0 && !isWithKills) {
    return inconclusive('no recycle took place: drill for longer, recycle more often, or lower the budget')
  }
  if (supervisor.cut + supervisor.unknown > 0) {
    const cut = `${grouped(supervisor.cut)} cut`
    const unknown = grouped(supervisor.unknown)
    return inconclusive(isAlone
      ? `${figures}, but the supervisor reports ${cut}, ${unknown} unaccounted for`
      : `${figures}, but the fleet has other clients, which may have lost some: of its connections ${cut}, ` +
        `${unknown} ended with a worker that crashed or gave no account`)
  }
  return { verdict: 'clean', exitCode: 0, sentence: figures }
}

/** @param {string} why @returns {Verdict} */
const inconclusive = why => ({ verdict: 'inconclusive', exitCode: 2, sentence: why })

/** @param {ReadonlyMap<string, number>} errors @param {ReadonlyMap<number, number>} statuses */
function kindsOf (errors, statuses) {
  const kinds = [...errors].flatMap(([error, times]) => error === 'status' && statuses.size > 0
    ? [...statuses].map(([status, times]) => ({ kind: `status ${status}`, times }))
    : [{ kind: error, times }])
  return kinds.sort((a, b) => b.times - a.times).map(({ kind, times }) => `${grouped(times)} ${kind}`).join(', ')
}

module.exports = { judge }
