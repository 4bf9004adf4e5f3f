'use strict'

/** In the report: heap snapshots that were written, by hand or by `--on-condemn`. */

const { formatSize } = require('../../core/units')
const { listOf } = require('../../report/bounded-list')
const { asNumber, asText } = require('../../report/journal-field')

/** @typedef {{ t: number, slot: number | null, pid: number | null, reason: string | null, file: string, bytes: number | null, pauseMs: number | null }} Heapdump */

/** @param {Record<string, any>} line @returns {Heapdump | null} */
function heapdump (line) {
  const [t, file] = [asNumber(line.t), asText(line.file)]
  if (t === null || file === null) return null
  return { t, slot: asNumber(line.slot), pid: asNumber(line.pid), reason: asText(line.reason), file, bytes: asNumber(line.bytes), pauseMs: asNumber(line.pauseMs) }
}

/** @param {Heapdump[]} heapdumps @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf (heapdumps, { paint, width, shown, clip, plain }) {
  if (heapdumps.length === 0) return []
  const lines = heapdumps.map(({ slot, pid, bytes, file }) => {
    const start = `slot ${shown(slot)} (${shown(pid)}), ${formatSize(bytes ?? 0)}: `
    return `${start}${clip(plain(file), width - start.length, true)}`
  })
  return [paint('dim', 'heap snapshots'), ...lines]
}

module.exports = { Heapdumps: listOf('heapdump', heapdump), linesOf }
