'use strict'

/** @import { Deps } from './parts' */

/**
 * A part of the primary: what parts.js gives it, it has by the same names; `More`: what it takes beside what all parts
 * may take.
 *
 * @type {new <More = object>(given: Deps & More) => Readonly<Deps & More>}
 */
const Part = /** @type {any} */ (class {
  /** @param {object} given */
  constructor (given) {
    Object.assign(this, given)
  }
})

module.exports = { Part }
