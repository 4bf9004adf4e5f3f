'use strict'

/** In the report: heap snapshots that were written, by hand or by `--on-condemn`. */

const { formatSize } = require('../../core/units')
const { listOf } = require('../../core/bounded-list')
const { asNumber, asText } = require('../../core/journal-field')

/** @typedef {NonNullable<ReturnType<typeof heapdump>>} Heapdump */

/** @param {Record<string, any>} line */
function heapdump (line) {
  const [t, file] = [asNumber(line.t), asText(line.file)]
  if (t === null || file === null) return null
  const [slot, pid, reason] = [asNumber(line.slot), asNumber(line.pid), asText(line.reason)]
  return { t, slot, pid, reason, file, bytes: asNumber(line.bytes), pauseMs: asNumber(line.pauseMs) }
}

/** @param {Heapdump[]} heapdumps @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf (heapdumps, { paint, width, orDash, clip, escapeControls }) {
  if (heapdumps.length === 0) return []
  const lines = heapdumps.map(({ slot, pid, bytes, file }) => {
    const start = `slot ${orDash(slot)} (${orDash(pid)}), ${formatSize(bytes ?? 0)}: `
    return `${start}${clip(escapeControls(file), width - start.length, true)}`
  })
  return [paint('dim', 'heap snapshots'), ...lines]
}

/** @param {typeof import('../../core/json-schema')} kinds */
function schema ({ listOf, number, orNull, record, text }) {
  return listOf(record({
    t: number('ms since the epoch'),
    slot: orNull(number()),
    pid: orNull(number()),
    reason: orNull(text(), 'requested, or rss with --on-condemn heapdump'),
    file: text(),
    bytes: orNull(number()),
    pauseMs: orNull(number())
  }), 'heap snapshots that were written, oldest first')
}

module.exports = { Heapdumps: listOf('heapdump', heapdump), schema, linesOf }
