'use strict'

/** CPU profiles of a worker, taken while it serves. */

const fs = require('node:fs')
const { badOption, notDone } = require('../../core/errors')
const { createPrivateFile } = require('./private-file')

const WRITE_MS = 60_000
const LONGEST_MS = 10 * 60_000

/**
 * @param {Pick<import('../part').Deps, 'fleet' | 'record'>} deps
 * @param {number} slot @param {number} durationMs @param {string} [asked]
 * @returns {ReturnType<import('../commands').Commands['cpuprofile']>}
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE
 */
async function takeCpuProfile ({ fleet, record }, slot, durationMs, asked) {
  if (!(Number.isInteger(durationMs) && durationMs >= 1 && durationMs <= LONGEST_MS)) {
    throw badOption('durationMs', durationMs, `a whole number of milliseconds from 1 to ${LONGEST_MS}`)
  }
  const handle = fleet.slots.get(slot)?.incumbent
  const refuse = (/** @type {string} */ why) => notDone(slot, 'the CPU profile', why)
  if (!handle?.isServing) throw refuse(handle ? `its worker is ${handle.state}` : 'it has no worker at the moment')
  const { pid } = handle
  const file = createPrivateFile({ slot, pid, suffix: 'cpuprofile', asked })
  const answer = await handle.call('profile', { durationMs, file }, durationMs + WRITE_MS)
  if (answer.why === null) {
    return record('cpuprofile', { slot, pid, file, bytes: answer.bytes, tookMs: Math.round(answer.tookMs) })
  }
  fs.rmSync(file, { force: true })
  throw refuse(answer.why)
}

module.exports = { takeCpuProfile }
