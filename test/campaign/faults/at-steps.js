'use strict'

/**
 * A worker is hit at a step of a recycle or a collection: when a message of the primary's arrives, before it is handled
 * or some moments after. Whichever worker gets the message first is the one, so the two ends of a hand-off are hit as
 * they take their turns.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const { oneOf, longEnough } = require('./moment')

/** @typedef {import('.').Kind} Kind */

const STEPS = [
  { message: 'drain', verb: 'recycle', is: 'it is told to drain' },
  { message: 'move', verb: 'recycle', is: 'it is to adopt a connection' },
  { message: 'moved', verb: 'recycle', is: 'a connection has moved from it, or to it' },
  { message: 'leave-rotation', verb: 'gc', is: 'it leaves rotation' },
  { message: 'collect', verb: 'gc', is: 'it is to collect' },
  { message: 'rejoin', verb: 'gc', is: 'it comes back into rotation' }
]
// Half of the stopped ones stay so until the verb is done
const SIGNALS = /** @type {const} */ (['SIGKILL', 'SIGSEGV', 'SIGSTOP', 'SIGSTOP'])
const STOPPED_MS = [20, 600, 1800]
const AFTER_MS = [-1, 0, 1, 3, 10] // -1: before it is handled

/** @type {Kind[]} */
const KINDS = STEPS.map(({ message, verb, is }) => ({
  name: `SIGKILL, SIGSEGV or SIGSTOP of a worker when ${is}`,
  isSlow: verb === 'gc', // a worker that is stopped meanwhile is left alone for as long as a collection may take
  act: async ({ fleet, random }) => {
    const signal = oneOf(random, SIGNALS)
    const isContinued = signal === 'SIGSTOP' && random() < 0.5
    const isHit = fleet.hitAt({ message, signal, afterMs: oneOf(random, AFTER_MS) })
    const done = fleet.call(verb, { target: String(Math.floor(random() * 3)) })
    const first = await Promise.race([isHit, done.then(() => sleep(100)), longEnough()])
    const pid = first || (fleet.withdrawStep() ? null : await isHit)
    if (pid && isContinued) {
      await sleep(20 + oneOf(random, STOPPED_MS) * random()) // it is not stopped before `afterMs`
      fleet.signal(pid, 'SIGCONT')
    }
    await Promise.race([done, longEnough()])
    if (!pid || isContinued) return { pids: [] }
    if (signal === 'SIGSTOP' && !fleet.hasLeft(pid)) { // it does not leave, and is no blocked worker
      fleet.signal(pid, 'SIGCONT')
      return { pids: [] }
    }
    await fleet.hasEnded(pid)
    return { pids: [pid] }
  }
}))

module.exports = { KINDS }
