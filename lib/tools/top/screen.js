'use strict'

/**
 * The terminal in full-screen mode: alternate screen, no cursor, raw keys. The terminal is restored however the process
 * ends, except by SIGKILL.
 */

const { EventEmitter } = require('node:events')
const readline = require('node:readline')
const { onExit } = require('signal-exit')
const importByNode = require('../../native/import.cjs')

/**
 * @typedef {typeof import('ansi-escapes', { with: { 'resolution-mode': 'import' } }).default} Escapes
 * @typedef {typeof import('slice-ansi', { with: { 'resolution-mode': 'import' } }).default} Slice
 */

/** Emits `key` with its name (`up`, `q`, `ctrl-c`), and `resize` when it must be drawn again: also on SIGCONT. */
class Screen extends EventEmitter {
  /** @type {(() => void)[]} */
  #undo = []
  #isEntered = false

  /**
   * @param {NodeJS.ReadStream} input @param {NodeJS.WriteStream} output
   * @param {{ escapes: Escapes, slice: Slice }} packages
   */
  constructor (input, output, { escapes, slice }) {
    super()
    this.input = input
    this.output = output
    this.escapes = escapes
    this.slice = slice
  }

  /** @param {NodeJS.ReadStream} input @param {NodeJS.WriteStream} output */
  static async open (input, output) {
    const [{ default: escapes }, { default: slice }] =
      await Promise.all(['ansi-escapes', 'slice-ansi'].map(importByNode))
    const screen = new Screen(input, output, { escapes, slice })
    screen.#begin()
    return screen
  }

  get columns () {
    return this.output.columns || 80 // some terminals do not report a size
  }

  get rows () {
    return this.output.rows || 24
  }

  /** @param {string[]} lines one for each row; clipped to the width */
  draw (lines) {
    if (!this.#isEntered || this.output.writableNeedDrain) return
    const { beginSynchronizedOutput, endSynchronizedOutput, cursorTo, eraseEndLine, eraseDown } = this.escapes
    const clipped = lines.slice(0, this.rows).map(line => this.slice(line, 0, this.columns))
    const text = `${clipped.join(`${eraseEndLine}\r\n`)}${eraseEndLine}${eraseDown}`
    this.output.write(`${beginSynchronizedOutput}${cursorTo(0, 0)}${text}${endSynchronizedOutput}`)
  }

  /** Does what Ctrl-Z does outside raw mode: the shell takes over until `fg`. */
  suspend () {
    this.#leave()
    process.kill(0, 'SIGTSTP')
  }

  close () {
    this.#leave()
    for (const undo of this.#undo.splice(0)) undo()
    this.input.pause()
  }

  #begin () {
    readline.emitKeypressEvents(this.input)
    this.#listen(this.input, 'keypress',
      (_, { ctrl, name, sequence }) => this.emit('key', `${ctrl ? 'ctrl-' : ''}${name ?? sequence}`))
    this.#listen(this.input, 'end', () => this.emit('key', 'q')) // the terminal is closed
    this.#listen(this.output, 'resize', () => this.emit('resize'))
    this.#listen(process, 'SIGCONT', () => {
      this.#enter()
      this.emit('resize')
    })
    this.#listen(process, 'uncaughtExceptionMonitor', () => this.#leave()) // Node's message about it must stay visible
    this.#undo.push(onExit(() => this.#leave()))
    this.#enter()
    this.input.resume()
  }

  /** @param {EventEmitter} emitter @param {string} event @param {(...args: any[]) => void} listener */
  #listen (emitter, event, listener) {
    emitter.on(event, listener)
    this.#undo.push(() => emitter.removeListener(event, listener))
  }

  #enter () {
    this.#isEntered = true
    this.#setRaw(true)
    this.output.write(this.escapes.enterAlternativeScreen + this.escapes.cursorHide)
  }

  #leave () {
    if (!this.#isEntered) return
    this.#isEntered = false
    this.output.write(this.escapes.cursorShow + this.escapes.exitAlternativeScreen)
    this.#setRaw(false)
  }

  /** @param {boolean} isRaw */
  #setRaw (isRaw) {
    try {
      this.input.setRawMode(isRaw)
    } catch {} // the terminal is gone
  }
}

module.exports = { Screen }
