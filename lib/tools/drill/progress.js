'use strict'

/** The progress of a drill: a bar on a terminal, else a line a second. */

const { bar } = require('../../core/grid')
const { count, formatTime, grouped } = require('../../core/units')

const LINE_EVERY_MS = 1000
const BAR_WIDTH = 20
const PHASES = { booting: 'booting', load: '', stopping: 'stopping under load' }

/**
 * @typedef {object} Figures
 * @property {'booting' | 'load' | 'stopping'} phase
 * @property {number} elapsedMs since the load began
 * @property {number} durationMs @property {number} requests @property {number} dropped @property {number} recycles
 * @property {number} kills @property {number | null} p99Ms
 */

/**
 * @param {{ isTTY: boolean, columns: number, write: (text: string) => unknown }} stream
 * @param {{ isBar?: boolean }} [how] false if the log goes to the same terminal
 */
function openProgress (stream, { isBar = stream.isTTY } = {}) {
  let writtenAt = -Infinity
  return {
    /** @param {Figures} figures */
    update (figures) {
      if (isBar) return stream.write(`\r\x1b[K${line(figures, true).slice(0, (stream.columns || 80) - 1)}`)
      if (figures.phase === 'booting' || performance.now() - writtenAt < LINE_EVERY_MS) return
      writtenAt = performance.now()
      stream.write(`${line(figures, false)}\n`)
    },
    close () {
      if (isBar) stream.write('\r\x1b[K')
    }
  }
}

/** @param {Figures} figures @param {boolean} hasBar */
function line ({ phase, elapsedMs, durationMs, requests, dropped, recycles, kills, p99Ms }, hasBar) {
  const done = Math.min(1, elapsedMs / durationMs)
  return [
    hasBar
      ? `${bar(done, BAR_WIDTH)} ${String(Math.floor(done * 100)).padStart(3)} %`
      : `${formatTime(Math.floor(elapsedMs / 1000) * 1000)} of ${formatTime(durationMs)}`,
    count(requests, 'request'),
    `${grouped(dropped)} dropped`,
    ...recycles > 0 || kills === 0 ? [count(recycles, 'recycle')] : [],
    ...kills > 0 ? [count(kills, 'kill')] : [],
    ...p99Ms === null ? [] : [`p99 ${p99Ms} ms`],
    ...PHASES[phase] ? [PHASES[phase]] : []
  ].join('  ')
}

module.exports = { openProgress }
