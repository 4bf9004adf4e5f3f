'use strict'

/**
 * An output of a worker, stdout or stderr, on its way to the primary's: in whole lines, and no faster than that takes
 * them.
 */

const { setTimeout } = require('node:timers/promises')
const { WholeLines } = require('../../core/whole-lines')
/** @import { Output } from '../../primary/output' */
/** @import { Readable } from 'node:stream' */

const QUIET_MS = 100

class WorkerOutput {
  #lines = new WholeLines()
  #chunks = 0
  #isPaused = false
  #hasEnded = false

  /** @param {Readable} stream @param {Output} output @param {() => string} prefix put before each line */
  constructor (stream, output, prefix) {
    this.stream = stream
    this.output = output
    this.prefix = prefix
    stream.on('data', chunk => {
      this.#chunks++
      this.#pass(this.#lines.push(chunk))
      if (output.isFull) this.#pause()
    })
    stream.on('error', () => {}) // its close follows
    this.ended = new Promise(resolve => stream.once('close', resolve)).then(() => {
      this.#pass(this.#lines.end())
      this.#hasEnded = true
    })
  }

  /** The worker has exited: resolves when the output has all that it wrote. A process left behind may still write. */
  async settled () {
    for (let seen = -1; !this.#hasEnded && (this.#isPaused || seen !== this.#chunks);) {
      seen = this.#chunks
      await Promise.race([this.ended, setTimeout(QUIET_MS)])
    }
    this.#pass(this.#lines.end())
  }

  /** @param {Buffer | null} bytes */
  #pass (bytes) {
    if (bytes !== null) this.output.pass(bytes, this, this.prefix())
  }

  #pause () {
    this.stream.pause()
    if (this.#isPaused) return // Node has resumed it, as its process has exited
    this.#isPaused = true
    this.output.once('room', () => {
      this.#isPaused = false
      this.stream.resume()
    })
  }
}

module.exports = { WorkerOutput }
