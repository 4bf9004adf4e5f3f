'use strict'

/** @import { Warning } from '../journal/events' */

/** Warnings that are told once, until what they warn of is over. */
class Warnings {
  /** @type {Set<string>} */
  #told = new Set()

  /** @param {import('../journal/events').Recording} record */
  constructor (record) {
    this.record = record
  }

  /** @param {Warning} fields @param {string} [of] what it is told once of; by default of the fleet */
  warnOnce (fields, of = '') {
    const key = `${fields.warning} ${of}`
    if (this.#told.has(key)) return
    this.#told.add(key)
    this.record('fleet.warning', fields)
  }

  /** Of the fleet. @param {string} warning */
  over (warning) {
    this.#told.delete(`${warning} `)
  }
}

module.exports = { Warnings }
