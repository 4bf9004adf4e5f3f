'use strict'

/** In the primary: tells exceptions that workers have survived, and has these replaced. */

const { LONGEST } = require('./bounds')
const { Kinds } = require('./kinds')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const MOST_NAMED = 5
const OFTEN = 3 // of a kind: from then on one line a second is enough
const AGAIN_MS = 1000
const SAME_MS = 10_000 // until what ended a worker at its start is printed again

class Exceptions {
  #kinds = new Kinds()
  /** When there was a line of each. @type {WeakMap<import('./kinds').Kind, number>} */
  #toldAt = new WeakMap()

  /** When each was printed. @type {Map<string, number>} */
  #printedAt = new Map()

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({
      fatal: ({ trace }) => this.#print(`${handle.generation} ${trace}`, trace),
      uncaught: thrown => this.#onUncaught(handle, thrown)
    })
  }

  /** @param {WorkerHandle} handle @param {import('../../messages').FromWorker['uncaught']} thrown */
  #onUncaught (handle, { name, message, stack, request, isAnswered, listener, isEnding }) {
    const kind = this.#kinds.add({ name, message, stack, request })
    const { count: seen } = kind
    const at = this.kernel.now()
    if (seen <= OFTEN || at - (this.#toldAt.get(kind) ?? 0) >= AGAIN_MS) {
      this.#toldAt.set(kind, at)
      // Another listener
      const what = kind.name === name
        ? { name, message }
        : { name: kind.name, message: `${name}: ${message}`.slice(0, LONGEST.message) }
      this.kernel.record('worker.exception', {
        slot: handle.slot, pid: handle.pid, ...what, stack, request, isAnswered, seen,
        ...listener !== null && { listener, isEnding }
      })
    }
    if (!isEnding) return // the app's own listener may go on
    this.kernel.crashWatch.threw(handle, `${name}: ${message}`, request)
    if (!handle.isServing) return // it leaves already
    // Sessions stay until it drains
    if (!this.kernel.features.hasSessions) {
      this.kernel.rotation.wish(handle, 'exceptions', `its app has not caught ${name}`)
    }
    this.kernel.sampler.replace(handle, 'exception')
  }

  /** @param {string} key @param {string} trace */
  #print (key, trace) {
    const at = this.kernel.now()
    for (const [other, since] of this.#printedAt) if (at - since >= SAME_MS) this.#printedAt.delete(other)
    if (!this.#printedAt.has(key)) this.kernel.spawner.print(trace)
    this.#printedAt.set(key, this.#printedAt.get(key) ?? at)
  }

  describe () {
    return { count: this.#kinds.count, kinds: this.#kinds.list(MOST_NAMED) }
  }
}

module.exports = { Exceptions }
