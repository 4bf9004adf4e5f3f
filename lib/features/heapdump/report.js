'use strict'

/** In the report: heap snapshots that were written, by hand or by `--on-condemn`. */

const { orDash } = require('../../core/grid')
const { formatSize } = require('../../core/units')
const { listOf } = require('../../core/bounded-list')
const { asNumber, asText } = require('../../core/journal-field')

/**
 * @typedef {{ t: number, slot: number | null, pid: number | null, reason: string | null, file: string, bytes: number |
 *   null, pauseMs: number | null }} Heapdump `reason`: requested, or rss with --on-condemn heapdump
 */

/** @param {import('../../lines').ReadLine<'heapdump'>} line @returns {Heapdump | null} */
function heapdump (line) {
  const [t, file] = [asNumber(line.t), asText(line.file)]
  if (t === null || file === null) return null
  const [slot, pid, reason] = [asNumber(line.slot), asNumber(line.pid), asText(line.reason)]
  return { t, slot, pid, reason, file, bytes: asNumber(line.bytes), pauseMs: asNumber(line.pauseMs) }
}

/**
 * @param {Heapdump[]} heapdumps heap snapshots that were written, oldest first @param {import('..').Terminal} tools
 * @returns {string[]}
 */
function linesOf (heapdumps, { paint, line }) {
  return [paint('dim', 'heap snapshots'), ...heapdumps.map(({ slot, pid, bytes, file }) =>
    line(`slot ${orDash(slot)} (${orDash(pid)}), ${formatSize(bytes ?? 0)}: `, file, true))]
}

module.exports = { Figures: listOf('heapdump', heapdump), linesOf }
