'use strict'

const { EventEmitter } = require('node:events')
/** @import { Deps } from './parts' */

/**
 * A part of the primary: what parts.js gives it, it has by the same names, and it may emit events; `More`: what it
 * takes beside what all parts may take.
 * @type {new <More = object>(given: Deps & More) => EventEmitter & Readonly<Deps & More>}
 */
const Part = /** @type {any} */ (class extends EventEmitter {
  /** @param {object} given */
  constructor (given) {
    super()
    Object.assign(this, given)
  }
})

module.exports = { Part }
