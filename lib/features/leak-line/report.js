'use strict'

/** In the report: the studies of leaks, by hand or by `--leak-report`. */

const { attempt } = require('../../core/attempt')
const { orDash } = require('../../core/grid')
const { listOf } = require('../../core/bounded-list')
const { asNumber, asText } = require('../../core/journal-field')
const { sentencesOf, sentenceOf, statusLines } = require('./sentence')
/** @import { Terminal } from '..' */

const MOST = 100

/**
 * @typedef {object} StudyFigures
 * @property {number} t @property {number | null} slot @property {number | null} pid
 * @property {string | null} by requested, or budget with --leak-report
 * @property {string} verdict grows, fills, outside, none, few or unread
 * @property {string[]} sentences
 */

/** @param {import('../../lines').ReadLine<'leak.end'>} line @returns {StudyFigures | null} */
function study (line) {
  const [t, verdict] = [asNumber(line.t), asText(line.verdict)]
  const sentences = say(line)
  if (t === null || verdict === null || sentences === null) return null
  return { t, slot: asNumber(line.slot), pid: asNumber(line.pid), by: asText(line.by), verdict, sentences }
}

/** @param {import('../../lines').ReadLine<'leak.end'>} line @returns {string[] | null} */
const say = line => attempt(() => sentencesOf(/** @type {any} */ (line)), null)

/** @param {StudyFigures[]} studies studies of leaks, oldest first @param {Terminal} tools @returns {string[]} */
function linesOf (studies, { paint, line }) {
  const lines = studies.flatMap(({ slot, pid, verdict, sentences }) => {
    const start = `slot ${orDash(slot)} (${orDash(pid)}): `
    return sentences.map((text, i) => line(i === 0 ? start : ' '.repeat(start.length), text))
      .map(line => verdict === 'grows' ? paint('red', line) : line)
  })
  return [paint('dim', 'studies of leaks'), ...lines]
}

module.exports = { Figures: listOf('leak.end', study, MOST), linesOf, sentenceOf, statusLines }
