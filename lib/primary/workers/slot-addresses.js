'use strict'

/**
 * Where the workers of the slots listen: what a new one must (required-addresses.js), what one does not after all, and
 * which addresses no worker has any more.
 */

const { Part } = require('../part')
const { inheritedAddresses, requiredAddresses } = require('./required-addresses')
/** @import { Place } from './slot' */
/** @import { WorkerHandle } from './worker-handle' */

class SlotAddresses extends Part {
  /** The addresses of which it was said last that some slots alone listen there. */
  #saidUneven = ''

  /** @param {Place} place @param {number} generation of its next worker */
  requiredOf (place, generation) {
    if (this.takeover && !this.tenure.hasBegun) return inheritedAddresses(this.takeover.addresses)
    return requiredAddresses(this.fleet, place, generation, this.fleet.serving().length > 0)
  }

  /** @param {WorkerHandle} handle @param {string[]} late where it was given time to listen, and does not */
  waived ({ slot, pid, readiness }, late) {
    for (const key of late) this.fleet.onDemand.add(key)
    this.record('fleet.warning',
      { warning: 'on-demand', slot, pid, addresses: late, lateMs: readiness.required.lateMs })
  }

  /** New code may open at once what the code before opened on demand. @param {WorkerHandle} handle it is up */
  up ({ asked }) {
    for (const [key, upMs] of asked) if (upMs === 0) this.fleet.onDemand.delete(key)
  }

  /** The next worker finds it free where no worker is left there. @param {WorkerHandle} handle one that was given up */
  evaded ({ readiness }) {
    for (const key of readiness.evades(readiness.missing)) {
      if (!this.fleet.all().some(({ addresses }) => addresses.has(key))) this.listeningSockets.giveUp(key)
    }
  }

  /**
   * Where no slot's workers listen any more from their start, no client is to wait.
   * @param {ReadonlyMap<string, number> | null} addresses that a slot leaves
   */
  left (addresses) {
    for (const [key, upMs] of addresses ?? []) {
      if (upMs === 0 && !this.fleet.list().some(slot => slot.addresses?.has(key))) this.listeningSockets.giveUp(key)
    }
  }

  warnOfUneven () {
    if (!this.fleet.isComplete) return
    const addresses = this.fleet.unevenAddresses()
    const text = JSON.stringify(addresses)
    if (addresses.length > 0 && text !== this.#saidUneven) {
      this.record('fleet.warning', { warning: 'uneven-addresses', addresses })
    }
    this.#saidUneven = text
  }
}

module.exports = { SlotAddresses }
