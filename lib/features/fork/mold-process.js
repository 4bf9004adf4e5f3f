'use strict'

/**
 * A mold as the primary sees it: a process that loads the app and stands still, and from then on forks what it is asked
 * for.
 */

const { EventEmitter } = require('node:events')
const { MoldControl } = require('./forked-process')
/** @import { Addon } from '../../native/addon' */
/** @import { Worker } from 'node:cluster' */

/** Emits `frozen` with the time that it took, `refused` with the reason, and `exit`. */
class MoldProcess extends EventEmitter {
  /** Why the mold cannot be forked from, or no longer. @type {string | null} */
  why = null
  isFrozen = false

  /** @param {number} generation @param {import('../../primary/parts').Parts} kernel @param {Addon} addon */
  constructor (generation, { options: { readyTimeoutMs, warm, forkUnsafe }, now, spawner }, addon) {
    super()
    this.generation = generation
    this.readyTimeoutMs = readyTimeoutMs
    const settings = { warm, isUnsafe: forkUnsafe }
    const control = this.control = new MoldControl(addon)
    const spawnedAt = now()
    try {
      const { id, worker } = spawner.startOriginal({ label: 'mold', generation, control: control.inherited, settings })
      this.id = id
      this.worker = worker
    } catch (error) {
      control.socket.destroy()
      throw error
    } finally {
      control.started()
    }
    this.pid = this.worker.process.pid ?? null
    const late = (/** @type {() => void} */ tooLate) => setTimeout(tooLate, readyTimeoutMs)
    let deadline = late(() => this.end(`its mold did not listen within ${readyTimeoutMs} ms`))
    control.once('held', () => { // the warm-up has a time of its own: a slow start is no fault of what it asks
      clearTimeout(deadline)
      deadline = late(() => this.#refuse(`the app could not be warmed up within ${readyTimeoutMs} ms; ` +
        "one that gets ready in listen's callback answers no request earlier, and takes --warm 0"))
    })
    control.once('frozen', () => {
      clearTimeout(deadline)
      this.isFrozen = true
      this.emit('frozen', now() - spawnedAt)
    })
    control.once('refused', why => this.#refuse(why))
    control.once('silent', ms => {
      this.why = `its mold did not tell within ${ms} ms that a process had ended` // whether it was to retire or not
      this.end(this.why)
    })
    /** @type {Promise<void>} */
    this.gone = new Promise(resolve => {
      const gone =
        (/** @type {number | null} */ code, /** @type {string | null} */ signal, /** @type {string} */ how) => {
          clearTimeout(deadline)
          this.why ??= `its mold ${how}`
          control.socket.destroy()
          this.emit('exit', { code, signal })
          resolve()
        }
      this.worker.once('exit',
        (code, signal) => gone(code, signal, signal ? `was killed by ${signal}` : `exited with code ${code}`))
      this.worker.once('error',
        error => { if (this.pid === null) gone(null, null, `could not be started (${error.message})`) })
    })
  }

  /** The worker is to be forked at once, or when the mold is ready for it. @param {Worker} worker */
  awaits (worker) {
    const begin = () => {
      const ms = this.readyTimeoutMs
      const deadline = setTimeout(() => this.end(`its mold did not fork within ${ms} ms`), ms)
      for (const event of ['forked', 'error', 'exit']) worker.process.once(event, () => clearTimeout(deadline))
    }
    if (this.isFrozen) begin()
    else this.once('frozen', begin)
  }

  /** The mold ends with its last copy. */
  retire () {
    if (!this.isFrozen) return this.end('the fleet is stopping, or its generation is out of date')
    this.why ??= 'it has retired'
    this.control.retire()
  }

  /**
   * Why a process could not be forked; the mold's own end may be noticed later.
   * @param {Error} error @returns {Promise<string>}
   */
  async failure (error) {
    if (this.control.isUp) return error.message
    await this.gone
    return String(this.why)
  }

  /** @param {string} why another one would not do better */
  #refuse (why) {
    this.end(why)
    this.emit('refused', why)
  }

  /** @param {string} why */
  end (why) {
    this.why ??= why
    this.worker.process.kill('SIGKILL')
  }
}

module.exports = { MoldProcess }
