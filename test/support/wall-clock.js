'use strict'

/**
 * Sets the wall clock of this process, and with it of the primary that runs in it, as an administrator or NTP sets that
 * of a machine: from here on Date has another time. Monotonic clocks and timers are unchanged.
 *
 * @param {any} t tap's
 * @param {number} byMs
 */
function setWallClock (t, byMs) {
  const Real = globalThis.Date
  t.teardown(() => { globalThis.Date = Real })
  globalThis.Date = /** @type {any} */ (class extends Real {
    constructor (/** @type {any[]} */ ...args) {
      super(...(args.length > 0 ? /** @type {[any]} */ (args) : /** @type {[any]} */ ([Real.now() + byMs])))
    }

    static now () {
      return Real.now() + byMs
    }
  })
}

const DAYS_MS = 3 * 24 * 3600 * 1000

module.exports = { setWallClock, DAYS_MS }
