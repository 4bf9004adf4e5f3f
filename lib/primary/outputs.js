'use strict'

/**
 * The outputs of the fleet: the log goes to stderr; the workers have them from this process, or write to it and it
 * passes their lines on.
 */

const fs = require('node:fs')
const { setTimeout } = require('node:timers/promises')
const { fileId } = require('../core/file-id')
const { outputOf } = require('../features')
const { openDescriptor } = require('./descriptor')
const { Output } = require('./output')

const LOOK_MS = 50
const STALLED_MS = 2000 // a reader that does not read must not delay the fleet's exit
const MOST_MS = 10_000 // nor a slow one for longer

class Outputs {
  /** @type {Map<string, Output>} by what they are: stdout and stderr may be one */
  #open = new Map()
  /** @type {Set<import('../features/output/feature').Passing>} */
  #workers = new Set()

  /**
   * @param {import('../tables/options').Options | null} [options] null: without workers
   * @param {(loss: Loss & { warning: 'output' | 'output-gone' }) => void} [onLoss] it is not read, or cannot be written
   *   to
   */
  constructor (options = null, onLoss = () => {}) {
    this.passOn = options && outputOf(options)
    /** The streams that a worker is given as its stdout and stderr. @type {'pipe' | 'inherit'} */
    this.stdio = this.passOn ? 'pipe' : 'inherit'
    this.onLoss = onLoss
    this.gone = new OutputGone(loss => onLoss({ warning: 'output-gone', ...loss }))
  }

  /** @param {1 | 2} fd */
  of (fd) {
    const id = fileId(fs.fstatSync(fd))
    const open = this.#open.get(id)
    if (open) return open
    const stream = fd === 1 ? 'stdout' : 'stderr'
    const output = new Output(() => openDescriptor(fd))
    let isGone = false // else it is not read
    const tell = (/** @type {Loss} */ loss) =>
      isGone ? this.gone.note(output, loss) : this.onLoss({ warning: 'output', ...loss })
    output.on('losing', (why, hasFailed) => {
      isGone = hasFailed
      queueMicrotask(() => tell({ stream, lost: 0, why }))
    })
    output.on('lost', lost => tell({ stream, lost, why: null }))
    this.#open.set(id, output)
    return output
  }

  /** Node's warnings, which it would write itself, and wait for the reader. @param {(text: string) => void} write */
  takeWarnings (write) {
    const own = process.listeners('warning').find(({ name }) => name === 'onWarning')
    if (!own) return // --no-warnings
    process.removeListener('warning', own)
    process.on('warning', ({ name, message, stack }) =>
      write(`(node:${process.pid}) ` +
        (process.execArgv.includes('--trace-warnings') && stack ? stack : `${name}: ${message}`)))
  }

  /** @param {import('node:child_process').ChildProcess} child @param {() => number | string} slot */
  connect ({ stdout, stderr }, slot) {
    for (const [fd, stream] of /** @type {const} */ ([[1, stdout], [2, stderr]])) {
      const worker = stream && this.passOn?.(stream, this.of(fd), slot)
      if (!worker) continue // it has this process's, or could not be started
      this.#workers.add(worker)
      worker.ended.then(() => this.#workers.delete(worker))
    }
  }

  /** The workers have exited: resolves when what they wrote has been written, or is not read. */
  async end () {
    const outputs = [...this.#open.values()]
    const written = Promise.all([...this.#workers].map(worker => worker.settled()))
      .then(() => Promise.all(outputs.map(output => output.emptied())))
    await Promise.race([written, stalls(outputs)])
    for (const output of outputs) output.close()
  }
}

/** Resolves when nothing is read any more, or too slowly. @param {Output[]} outputs */
async function stalls (outputs) {
  for (let ms = 0, sinceMs = 0, seen = -1; ms < MOST_MS && sinceMs < STALLED_MS; ms += LOOK_MS) {
    const written = outputs.reduce((sum, output) => sum + output.written, 0)
    sinceMs = written === seen ? sinceMs + LOOK_MS : 0
    seen = written
    await setTimeout(LOOK_MS, undefined, { ref: false })
  }
}

/**
 * Writes to stdout or stderr that fail, as their reader is gone or their disk is full: the first of any process of the
 * fleet is told, and the end, with the number of what was lost. The fleet serves on.
 */

/** @typedef {{ stream: string, lost: number, why: string | null }} Loss `lost` 0: it begins; `why` null: it is over */

class OutputGone {
  /** Failures by stream. @type {Map<string, { lost: number, sources: Set<object> }>} */
  #failing = new Map()

  /** @param {(loss: Loss) => void} tell */
  constructor (tell) {
    this.tell = tell
  }

  /** @param {object} source the process @param {Loss} loss */
  note (source, { stream, lost, why }) {
    const failing = this.#failing.get(stream) ?? { lost: 0, sources: new Set() }
    failing.lost += lost
    if (why !== null) {
      if (failing.sources.size === 0) this.tell({ stream, lost: 0, why })
      this.#failing.set(stream, failing)
      failing.sources.add(source)
    } else if (failing.sources.delete(source) && failing.sources.size === 0) {
      this.#failing.delete(stream)
      this.tell({ stream, lost: failing.lost, why: null })
    }
  }

  /** The worker has exited: what it lost since it said so is not known. @param {object} source */
  left (source) {
    for (const [stream, { sources }] of this.#failing) {
      if (sources.delete(source) && sources.size === 0) this.#failing.delete(stream)
    }
  }
}

module.exports = { Outputs }
