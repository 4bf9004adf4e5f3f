'use strict'

/**
 * Where a connection is that goes from one worker to another, as a worker and the primary see it.
 *
 *   here      a worker's alone, which reads it
 *   offered   unread; its worker has it, and goes on with it should the primary die
 *   lent      unread; another primary has it, and decides what becomes of it
 *   adopted   lent, a worker here has it too, and its lender has been told so
 *   held      unread, and with no process that could go on with it but the one which holds it
 *   gone      of no concern here any more
 *
 * @typedef {'here' | 'offered' | 'lent' | 'adopted' | 'held' | 'gone'} Place
 * @type {Readonly<Record<Place, readonly Place[]>>}
 */
const NEXT = Object.freeze({
  here: Object.freeze(/** @type {Place[]} */ (['offered', 'gone'])),
  offered: Object.freeze(/** @type {Place[]} */ (['here', 'held', 'gone'])),
  lent: Object.freeze(/** @type {Place[]} */ (['adopted', 'held', 'gone'])),
  adopted: Object.freeze(/** @type {Place[]} */ (['held', 'gone'])),
  held: Object.freeze(/** @type {Place[]} */ (['here', 'gone'])),
  gone: Object.freeze([])
})

/** @param {Place} from @param {Place} to @returns {Place} `to` @throws {Error} where that does not follow */
function move (from, to) {
  if (!NEXT[from].includes(to)) throw new Error(`a connection that is ${from} does not become ${to}`)
  return to
}

module.exports = { NEXT, move }
