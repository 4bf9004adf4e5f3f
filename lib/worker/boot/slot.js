'use strict'

/**
 * Which slot this worker serves. A standby is assigned one when it is called, before its acceptors open: RECYCLE_SLOT is set
 * then, and `recycle:serve` is emitted for the app.
 */
class SlotAssignment {
  /** Null: none yet. @type {number | null} */
  slot = null

  /** @param {number} slot */
  take (slot) {
    this.slot = slot
    process.env.RECYCLE_SLOT = String(slot)
    process.emit(/** @type {any} */ ('recycle:serve'), /** @type {any} */ ({ slot }))
  }

  /** @param {(about: { slot: number }) => void} fn called once, as soon as this worker has a slot */
  onServe (fn) {
    const { slot } = this
    if (slot === null) process.once(/** @type {any} */ ('recycle:serve'), fn)
    else process.nextTick(fn, { slot })
  }
}

module.exports = { SlotAssignment }
