'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')

/** A process of a given size, to be measured; see sized.js. */
class Target {
  /**
   * @param {number} megabytes
   * @param {number} [seconds] how long it works, when it is told to
   */
  constructor (megabytes, seconds) {
    const args = [path.join(__dirname, 'sized.js'), String(megabytes * 1e6 / 1024 ** 2), ...seconds ? [String(seconds)] : []]
    this.child = spawn(process.execPath, ['--expose-gc', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.pid = /** @type {number} */ (this.child.pid)
    this.lines = readline.createInterface({ input: this.child.stdout })[Symbol.asyncIterator]()
    this.gone = new Promise(resolve => this.child.once('close', resolve))
  }

  async ready () {
    await this.#line()
  }

  /**
   * Makes it work on fresh memory.
   *
   * @returns {Promise<Record<'map' | 'fault', ReturnType<typeof import('./statistics').percentiles>>>} µs
   */
  async work () {
    this.child.kill('SIGUSR2')
    return JSON.parse(await this.#line())
  }

  kill () {
    this.child.kill('SIGKILL')
  }

  async #line () {
    const { value, done } = await this.lines.next()
    if (done) throw new Error('a process to be measured ended before its time')
    return value
  }
}

module.exports = { Target }
