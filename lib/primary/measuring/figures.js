'use strict'

const { openWindow, pushSample } = require('../../core/window')
/** @import { Reading, Sample } from '../../core/sample' */

/** Figures of one worker, and the probes that measure it. */
class Figures {
  window = openWindow()
  /** The last sample. @type {Sample | null} */
  sample = null
  /** The last reading that knew PSS and USS. @type {Reading | null} */
  lastFull = null
  /** When the worker was ready, or stood by. @type {Promise<Reading | null>} */
  fresh = Promise.resolve(null)
  /** Of that, what a sample of the worker has been judged by. @type {Reading | null} */
  new = null
  /** Memory that the worker took when it was new: of its own, where that is known. @type {number | null} */
  freshBytes = null
  /** The journal has that readings of the worker in full do not return. */
  isLateSaid = false
  /** Since it was ready, or kept, a sample of it has been judged. */
  isJudged = false

  /**
   * @param {import('./meter').Probe} probe @param {import('./meter/cpu').CpuProbe} cpu
   * @param {(at: number) => Promise<Record<string, unknown>>} limits reads those of features
   */
  constructor (probe, cpu, limits) {
    this.probe = probe
    this.cpu = cpu
    this.limits = limits
  }

  /** From here on it is judged by what it does from here on. */
  restart () {
    this.window = openWindow()
    this.isJudged = false
  }

  /** @param {Sample} sample @param {import('../../tables/budget').Budget} budget */
  observe (sample, { samples }) {
    this.sample = sample
    this.freshBytes ??= sample.ussBytes ?? sample.rssBytes
    this.window = pushSample(this.window, sample, samples)
  }

  close () {
    this.probe.close()
    this.cpu.close()
  }
}

module.exports = { Figures }
