'use strict'

/** A real terminal, by tmux: keys in, screens out. Tests wait for a screen. */

require('./bare-children')
const { execFileSync } = require('node:child_process')

let opened = 0

class Terminal {
  #socket = `recycle-test-${process.pid}-${opened++}`

  /**
   * @param {any} t tap's
   * @param {string[]} argv what runs in it
   * @param {{ columns?: number, rows?: number, env?: Record<string, string>, cwd?: string }} [how]
   */
  constructor (t, argv, { columns = 80, rows = 24, env = {}, cwd = process.cwd() } = {}) {
    const set = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', cwd, ...set, ...argv)
    t.teardown(() => this.close())
  }

  /** @param {string[]} args */
  #tmux (...args) {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** @param {string[]} keys as tmux names them: `q`, `Down`, `C-c` */
  press (...keys) {
    this.#tmux('send-keys', ...keys)
  }

  /** @param {string} text as it is */
  type (text) {
    this.#tmux('send-keys', '-l', text)
  }

  /** The present screen. @param {{ colors?: boolean }} [how] */
  screen ({ colors = false } = {}) {
    return this.#tmux('capture-pane', '-p', ...(colors ? ['-e'] : [])).trimEnd()
  }

  /** A property of the terminal, such as `cursor_flag` or `alternate_on`. @param {string} format */
  ask (format) {
    return this.#tmux('display-message', '-p', `#{${format}}`).trim()
  }

  /** @param {number} columns @param {number} rows */
  resize (columns, rows) {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /**
   * @param {RegExp | ((screen: string) => boolean)} what
   * @param {number} [timeoutMs]
   * @returns {Promise<string>} the first screen that has it
   */
  async until (what, timeoutMs = 20_000) {
    const isSo = what instanceof RegExp ? (/** @type {string} */ screen) => what.test(screen) : what
    for (const deadline = Date.now() + timeoutMs; ;) {
      const screen = this.screen()
      if (isSo(screen)) return screen
      if (Date.now() > deadline) throw new Error(`${what} was not on the screen within ${timeoutMs} ms; there was\n${screen}`)
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  close () {
    try {
      this.#tmux('kill-server')
    } catch {} // it has exited
  }
}

module.exports = { Terminal }
