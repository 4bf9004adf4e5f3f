'use strict'

/**
 * Appends lines to one open file, many in a write, and never blocks. What cannot be written is kept in bounded memory,
 * and written when that is possible again: a full disk is tried with each further line, a pipe that is not read ten
 * times a second.
 *
 * @typedef {{ text: string, t: number }} Item a line with its end, and its time
 * @typedef {{ items: Item[], rest: Buffer }} Chunk `rest`: what is still to be written of it
 */

const fs = require('node:fs')

const KEPT_BYTES = 16 * 1024 ** 2
const CHUNK_CHARS = 64 * 1024
const AGAIN_MS = 100

class LineFile {
  /** @type {Item[]} */
  #waiting = []
  /** Being written. @type {Chunk | null} */
  #chunk = null
  #chars = 0
  #isBusy = false
  /** A line has come while a write was under way, which may fail for what was true before. */
  #isAskedAgain = false
  #isFailing = false
  #isEnding = false
  #isGivenUp = false
  /** @type {(lost: Item[]) => void} */
  #close = () => {}

  /** @param {number} fd @param {(error: Error) => void} onError called once each time it begins to fail */
  constructor (fd, onError) {
    this.fd = fd
    this.onError = onError
    /** Resolves when it is closed, with what could not be written. @type {Promise<Item[]>} */
    this.closed = new Promise(resolve => { this.#close = resolve })
  }

  /** @param {Item[]} items @returns {boolean} false: there is no room for them */
  write (items) {
    const chars = items.reduce((sum, { text }) => sum + text.length, 0)
    if (this.#chars + chars > KEPT_BYTES) {
      this.#pump() // there may be room on the disk by now
      return false
    }
    this.#waiting.push(...items)
    this.#chars += chars
    this.#pump()
    return true
  }

  /** Writes what is left, and closes. */
  end () {
    this.#isEnding = true
    this.#pump()
  }

  /** From here on nothing is waited for. */
  giveUp () {
    this.#isGivenUp = true
    this.#close(this.#left)
  }

  /** The latest write has failed, and is tried again. */
  get isFailing () {
    return this.#isFailing
  }

  get #left () {
    return [...this.#chunk?.items ?? [], ...this.#waiting]
  }

  #pump () {
    this.#isAskedAgain = this.#isBusy
    if (this.#isBusy) return
    this.#chunk ??= this.#take()
    if (this.#chunk === null) {
      if (this.#isEnding) this.#end([])
      return
    }
    this.#isBusy = true
    fs.write(this.fd, this.#chunk.rest, (error, written) => {
      if (error && ['EAGAIN', 'EBUSY'].includes(String(error.code)) && !this.#isGivenUp) {
        return setTimeout(() => this.#goOn(), AGAIN_MS)
      }
      if (error) return this.#fail(error)
      this.#isFailing = false
      const chunk = /** @type {Chunk} */ (this.#chunk)
      chunk.rest = chunk.rest.subarray(written)
      if (chunk.rest.length === 0) {
        this.#chars -= chunk.items.reduce((sum, { text }) => sum + text.length, 0)
        this.#chunk = null
      }
      this.#goOn()
    })
  }

  #goOn () {
    this.#isBusy = false
    this.#pump()
  }

  /** @param {Error} error */
  #fail (error) {
    this.#isBusy = false
    if (!this.#isFailing) this.onError(error)
    this.#isFailing = true
    if (this.#isEnding) this.#end(this.#left)
    else if (this.#isAskedAgain) this.#pump()
  }

  /** @param {Item[]} lost */
  #end (lost) {
    this.#isBusy = true
    fs.close(this.fd, () => this.#close(lost))
  }

  #take () {
    let count = 0
    for (let chars = 0; count < this.#waiting.length && chars < CHUNK_CHARS; count++) {
      chars += this.#waiting[count].text.length
    }
    if (count === 0) return null
    const items = this.#waiting.splice(0, count)
    return { items, rest: Buffer.from(items.map(({ text }) => text).join('')) }
  }
}

module.exports = { LineFile }
