'use strict'

const { openWindow, pushSample } = require('../../core/window')

/** What is measured of one worker, and the probes that measure it. */
class Figures {
  window = openWindow()
  /** The last sample. @type {import('../../core/sample').Sample | null} */
  sample = null
  /** The last reading that knew PSS and USS. @type {import('../../core/sample').Reading | null} */
  lastFull = null
  /** Since it was ready, or kept, a sample of it has been judged. */
  isJudged = false

  /** @param {import('./meter').Probe} probe @param {import('./meter/cpu').CpuProbe} cpu */
  constructor (probe, cpu) {
    this.probe = probe
    this.cpu = cpu
  }

  /** From here on it is judged by what it does from here on. */
  restart () {
    this.window = openWindow()
    this.isJudged = false
  }

  /** @param {import('../../core/sample').Sample} sample @param {number} samples that a window holds */
  observe (sample, samples) {
    this.sample = sample
    this.window = pushSample(this.window, sample, samples)
  }

  close () {
    this.probe.close()
    this.cpu.close()
  }
}

module.exports = { Figures }
