'use strict'

const { formatTime } = require('../../lib/core/units')

const WIDTH = 24

/** A bar on stderr, if that is a terminal. */
class Progress {
  #began = Date.now()
  #done = 0
  #text = ''

  /** @param {number} total steps */
  constructor (total) {
    this.total = total
  }

  /** @param {string} text what begins */
  step (text) {
    this.#text = text
    this.say('')
  }

  /** @param {string} more about the step under way */
  say (more) {
    if (!process.stderr.isTTY) return
    const share = this.#done / this.total
    const left = this.#done ? `, ${formatTime((Date.now() - this.#began) / share * (1 - share))} left` : ''
    const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░')
    process.stderr.write(`\r\x1b[K${`${bar} ${this.#done}/${this.total} ${this.#text}${more && `: ${more}`}${left}`.slice(0, (process.stderr.columns ?? 80) - 1)}`)
  }

  done () {
    this.#done++
  }

  end () {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  }
}

module.exports = { Progress }
