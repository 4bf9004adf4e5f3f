'use strict'

/** In the report: the studies of leaks, by hand or by `--leak-report`. */

const { listOf } = require('../../core/bounded-list')
const { asNumber, asText } = require('../../core/journal-field')
const { sentencesOf, sentenceOf, statusLines, live } = require('./sentence')

const MOST = 100

/**
 * @typedef {{ t: number, slot: number | null, pid: number | null, by: string | null, verdict: string,
 *   sentences: string[] }} StudyFigures
 */

/** @param {Record<string, any>} line @returns {StudyFigures | null} */
function study (line) {
  const [t, verdict] = [asNumber(line.t), asText(line.verdict)]
  const sentences = say(line)
  if (t === null || verdict === null || sentences === null) return null
  return { t, slot: asNumber(line.slot), pid: asNumber(line.pid), by: asText(line.by), verdict, sentences }
}

/**
 * @param {Record<string, any>} line of a journal that may be another version's, or damaged
 * @returns {string[] | null}
 */
function say (line) {
  try {
    return sentencesOf(/** @type {any} */ (line))
  } catch {
    return null
  }
}

/** @param {StudyFigures[]} studies @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf (studies, { paint, width, orDash, clip, escapeControls }) {
  if (studies.length === 0) return []
  const lines = studies.flatMap(({ slot, pid, verdict, sentences }) => {
    const start = `slot ${orDash(slot)} (${orDash(pid)}): `
    return sentences.map((text, i) => `${i === 0 ? start : ' '.repeat(start.length)}${clip(escapeControls(text), width - start.length)}`).map(line => verdict === 'grows' ? paint('red', line) : line)
  })
  return [paint('dim', 'studies of leaks'), ...lines]
}

/** @param {typeof import('../../core/json-schema')} kinds */
function schema ({ listOf, number, orNull, record, text }) {
  return listOf(record({
    t: number('ms since the epoch'),
    slot: orNull(number()),
    pid: orNull(number()),
    by: orNull(text(), 'requested, or budget with --leak-report'),
    verdict: text('grows, fills, outside, none, few or unread'),
    sentences: listOf(text())
  }), 'studies of leaks, oldest first')
}

module.exports = { Studies: listOf('leak.end', study, MOST), schema, linesOf, sentenceOf, statusLines, live }
