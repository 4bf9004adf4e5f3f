'use strict'

const MIB = 1024 ** 2
/** MiB, of one semi-space at the most: from V8 13 on (Node 24) it grows larger. */
const SEMI_SPACE_MIB = { before13: 16, from13: 64 }

/**
 * The size of the old generation at which V8 ends a process.
 * @param {number} heapLimitBytes V8's `heap_size_limit`, which includes three semi-spaces
 * @param {readonly string[]} flags of the process; the later one wins @param {number} v8Major @returns {number} bytes
 */
function oldSpaceLimit (heapLimitBytes, flags, v8Major) {
  const given = flags.map(flag => /^--max[-_]semi[-_]space[-_]size=(\d+)$/.exec(flag)?.[1]).filter(Boolean).at(-1)
  const semiMiB = given === undefined
    ? (v8Major >= 13 ? SEMI_SPACE_MIB.from13 : SEMI_SPACE_MIB.before13)
    : Number(given)
  return Math.max(MIB, heapLimitBytes - 3 * semiMiB * MIB)
}

module.exports = { oldSpaceLimit }
