'use strict'

const { span } = require('../../journal/gap.cjs')

/**
 * Facts that a reader must know beside the figures, for the terminal and for the page.
 *
 * @typedef {object} Format
 * @property {(value: number) => string} grouped @property {(value: number, one: string) => string} count
 * @property {(ms: number) => string} time
 * @property {(text: string) => string} clean without control characters
 *
 * @param {import('./index').Report} report @param {Format} format @returns {string[]}
 */
function remarksOf (report, { grouped, count, time, clean }) {
  const { gaps, unacked, streamsCut, restarted, oomKills, client, skippedLines, recycleEvents } = report
  const { clockSetBackMs, clockSetForwardMs } = report
  const said = gaps.slice(1).map(gap => `nothing is known ${span(gap)}: ${gap.why}`)
  if (oomKills > 0) {
    said.push(`the kernel killed ${count(oomKills, 'worker')} because memory ran out: lower --max-rss (auto computes ` +
      "it), or raise the container's limit")
  }
  if (unacked > 0) {
    said.push(`${count(unacked, 'connection')} handed over and never acknowledged: their outcome is not known`)
  }
  if (streamsCut > 0) {
    said.push(`${count(streamsCut, 'stream')} (WebSockets, raw connections) closed at the drain timeout: ` +
      'the app did not end them; they are not among those that were cut')
  }
  const reasons = Object.entries(restarted)
  if (reasons.length > 0) {
    const all = reasons.reduce((sum, [, number]) => sum + number, 0)
    said.push(`${count(all, 'WebSocket')} closed for a service restart (1012): ` +
      `${reasons.map(([why, number]) => `${clean(why)} ${grouped(number)}`).join(', ')}`)
  }
  if (recycleEvents.some(({ lost }) => lost)) {
    said.push('cut 0–2, 1?: the worker gave no account; from its requests in flight at the last beat ' +
      'to all of its connections')
  }
  const crashed = recycleEvents.filter(({ ended }) => ended === 'crashed').length
  const killed = recycleEvents.filter(({ ended, lost }) => ended === 'killed' && !lost).length
  if (crashed > 0) said.push(`${count(crashed, 'worker')} crashed while being replaced`)
  if (killed > 0) {
    said.push(`${count(killed, 'worker')} had to be killed: the app had not ended within --kill-timeout of SIGTERM`)
  }
  if (recycleEvents.some(({ kind }) => kind === 'unfinished')) {
    said.push('cut –: the journal ends before the drain does')
  }
  if (client?.wasCutShort) said.push("the client's record is truncated: later requests are not counted")
  if (clockSetBackMs > 0) {
    said.push(`the machine's clock was set back by ${time(clockSetBackMs)}: times are by that clock, ` +
      'durations are right')
  }
  if (clockSetForwardMs > 0) {
    said.push(`the machine's clock was set forward by ${time(clockSetForwardMs)}, or it slept: durations are right`)
  }
  if (skippedLines > 0) {
    said.push(`${count(skippedLines, 'line')} of the journal skipped: truncated, or not of this version`)
  }
  return said
}

module.exports = { remarksOf }
