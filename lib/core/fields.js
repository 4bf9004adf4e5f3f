'use strict'

/**
 * @template {PropertyKey} Name @template Value
 * @param {readonly Name[]} names @param {(name: Name) => Value} valueOf @returns {Record<Name, Value>}
 */
const fromNames = (names, valueOf) =>
  /** @type {Record<Name, Value>} */ (Object.fromEntries(names.map(name => [name, valueOf(name)])))

/**
 * Of an object whose fields are alike.
 * @template {object} From @template {keyof From} Name
 * @param {From} from @param {readonly Name[]} names @returns {Pick<From, Name>} these of its fields
 */
const pick = (from, names) => /** @type {Pick<From, Name>} */ (fromNames(names, name => from[name]))

/**
 * @template {string} Name
 * @param {Record<Name, number>} into changed @param {Record<Name, number>} from each of its numbers is added
 */
function addUp (into, from) {
  for (const name of /** @type {Name[]} */ (Object.keys(from))) into[name] += from[name]
}

/**
 * @template Answer @param {[words: string, answer: Answer][]} rows words that have one answer, with spaces between them
 * @returns {Readonly<Record<string, Answer>>}
 */
function byWord (rows) {
  return Object.freeze(Object.fromEntries(rows.flatMap(([words, answer]) =>
    words.split(' ').map(word => [word, answer]))))
}

module.exports = { fromNames, pick, addUp, byWord }
