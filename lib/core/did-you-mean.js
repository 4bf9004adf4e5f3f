'use strict'

/**
 * The word that was probably meant: equal except for case, dashes and underscores, else the word the fewest edits away,
 * if these are few for its length.
 * @param {string} written @param {readonly string[]} words @returns {string | null}
 */
function nearest (written, words) {
  const normalized = (/** @type {string} */ word) => word.toLowerCase().replace(/[^a-z\d]/g, '')
  const ranked = words.map(word => ({ word, edits: editsBetween(normalized(written), normalized(word)) }))
    .sort((a, b) => a.edits - b.edits)
  return ranked.length > 0 && ranked[0].edits <= written.length * 0.4 ? ranked[0].word : null
}

/**
 * The number of letters to insert, delete, replace or swap with the next (optimal string alignment).
 * @param {string} a @param {string} b
 */
function editsBetween (a, b) {
  /** @type {number[][]} */
  const edits = [[...b, ''].map((_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    edits.push([i])
    for (let j = 1; j <= b.length; j++) {
      const replaced = edits[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? edits[i - 2][j - 2] + 1 : Infinity
      edits[i].push(Math.min(replaced, swapped, edits[i - 1][j] + 1, edits[i][j - 1] + 1))
    }
  }
  return edits[a.length][b.length]
}

module.exports = { nearest }
