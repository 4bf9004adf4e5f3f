'use strict'

/** Milliseconds by a clock that all processes of this machine share. */
function nowMs () {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

module.exports = { nowMs }
