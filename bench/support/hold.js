'use strict'

const fs = require('node:fs')
const v8 = require('node:v8')
const vm = require('node:vm')

/**
 * The longest time for which the event loop was blocked: the loop is kept turning, and each turn is timed. Finer than
 * monitorEventLoopDelay(), which samples once a millisecond, but it uses a whole CPU; so nothing else is timed
 * meanwhile.
 *
 * Where the kernel reports how long the thread waited for a CPU (schedstat), that time is subtracted: it is not a cost
 * of the code. The turns make garbage, and its collection would count as blocking: the new space is emptied beforehand,
 * and is large enough for 50 ms of turns.
 */
class Hold {
  #longestMs = 0
  #turnedAt
  #waitedMs
  #isOver = false

  constructor () {
    collectYoung({ type: 'minor' })
    this.#turnedAt = performance.now()
    this.#waitedMs = waitedMs()
    const turn = () => {
      this.#note()
      if (!this.#isOver) setImmediate(turn)
    }
    setImmediate(turn)
  }

  /** @returns {number} ms */
  end () {
    this.#note()
    this.#isOver = true
    return this.#longestMs
  }

  #note () {
    const now = performance.now()
    const waited = waitedMs()
    this.#longestMs = Math.max(this.#longestMs, now - this.#turnedAt - (waited - this.#waitedMs))
    this.#turnedAt = now
    this.#waitedMs = waited
  }
}

v8.setFlagsFromString('--expose-gc')
const collectYoung = vm.runInNewContext('gc')
const SPACE = 32
const ZERO = 48
const schedstat = openSchedstat()
const buffer = Buffer.alloc(64)

/** The time that the main thread has waited for a CPU since its start; 0 if unknown. */
function waitedMs () {
  if (schedstat === null) return 0
  fs.readSync(schedstat, buffer, 0, buffer.length, 0)
  let ns = 0
  for (let i = buffer.indexOf(SPACE) + 1; buffer[i] > SPACE; i++) ns = 10 * ns + buffer[i] - ZERO
  return ns / 1e6
}

function openSchedstat () {
  try {
    return fs.openSync('/proc/thread-self/schedstat', 'r')
  } catch {
    return null
  }
}

module.exports = { Hold }
