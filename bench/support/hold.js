'use strict'

const fs = require('node:fs')

/**
 * The longest time for which the event loop was held: it is kept turning, and each turn is timed. Finer than
 * monitorEventLoopDelay(), which looks once a millisecond, and it costs a CPU; so nothing else is timed meanwhile.
 *
 * Where the kernel tells how long the thread had to wait for a CPU (schedstat), that is taken off: it is the machine's
 * doing, not that of the code.
 */
class Hold {
  #longestMs = 0
  #turnedAt = performance.now()
  #waitedMs = waitedMs()
  #isOver = false

  constructor () {
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

const schedstat = openSchedstat()
const buffer = Buffer.alloc(64)

/** How long the main thread has waited for a CPU since it began; 0 where that is not known. */
function waitedMs () {
  if (schedstat === null) return 0
  const length = fs.readSync(schedstat, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6
}

function openSchedstat () {
  try {
    return fs.openSync('/proc/thread-self/schedstat', 'r')
  } catch {
    return null
  }
}

module.exports = { Hold }
