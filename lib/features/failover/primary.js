'use strict'

/**
 * In the primary: has a descriptor of each connection that lasts, and decides what becomes of them when a worker has
 * died. It reads nothing of them, and is told nothing: what the dead worker was doing with each is in its memory, and
 * must agree with what the kernel has counted.
 */

const fs = require('node:fs')
const { setTimeout } = require('node:timers')
const { attempt } = require('../../core/attempt')
const { untilNext } = require('../../native/every')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')
const { descriptorLimit } = require('../../native/descriptor-limit')
const { Holdings } = require('./holdings')
const { MEMORY, TICK_MS, decode } = require('./packet')
const { ROW_BYTES, readRow } = require('./row')
const { Settlement } = require('./settlement')
const { Suspects } = require('./suspects')
/** @import { Addon } from '../../native/addon' */
/** @import { Unread } from '../../native/descriptor' */
/** @import { Outcome } from '../../core/account' */
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { ParcelFields } from '../../tables/message' */
/** @import { Copy } from '../../worker/connections/parcel' */
/** @import { Parts } from '../../primary/parts' */
/** @import { PrimaryPart } from '../interface' */

const SHARE = 0.8 // of the descriptors that this process may have: the others are for its own work
const LEAST_OWN = 128
const LONGEST_MS = 500 // between two looks at what workers have sent
const COUNTED = /** @type {const} */ (['moved', 'replayed', 'answered', 'cut'])

class Failover {
  /** @type {Map<WorkerHandle, Holdings>} */
  #holdings = new Map()
  /** In this tick. @type {Set<Holdings>} */
  #received = new Set()
  #isLooking = false
  totals = { moved: 0, replayed: 0, answered: 0, cut: 0 }

  /** @param {Parts} kernel @param {Addon} addon */
  constructor (kernel, addon) {
    this.kernel = kernel
    this.addon = addon
    this.suspects = new Suspects(
      () => kernel.tenure.isOver ? null : kernel.fleet.serving(),
      (handle, copy) => this.#isSeen(handle, copy)
    )
    const limit = descriptorLimit()
    this.most = Math.max(0, Math.floor(Math.min(SHARE * limit, limit - LEAST_OWN)))
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.once('entered', () => this.#open(handle))
  }

  /**
   * @param {WorkerHandle} handle @param {Copy} copy
   * @returns {Descriptor | null} the caller's from here on; null: none
   */
  take (handle, copy) {
    const holdings = this.#holdings.get(handle)
    if (!holdings) return null
    this.#receiveOnce(holdings) // it may be on its way
    return holdings.take(copy)
  }

  /** @param {WorkerHandle} handle */
  #open (handle) {
    if (handle.isGone) return // it is read late
    const [ours, theirs] = this.addon.socketpair().map(fd => new Descriptor(fd))
    this.#holdings.set(handle, new Holdings(ours))
    if (!this.#isLooking) this.#look(TICK_MS)
    handle.give('do', theirs, { verb: 'duplicates' })
  }

  /**
   * The messages of a worker wait where they are, also when that worker has died: so they are looked for rarely, while
   * little comes, and not at all while no worker is there.
   * @param {number} afterMs
   */
  #look (afterMs) {
    this.#isLooking = this.#holdings.size > 0
    if (!this.#isLooking) return
    setTimeout(() => {
      let hasCome = false
      for (const holdings of this.#holdings.values()) hasCome = this.#receive(holdings) || hasCome
      this.#look(hasCome ? TICK_MS : Math.min(2 * afterMs, LONGEST_MS))
    }, untilNext(afterMs)).unref()
  }

  get #count () {
    let count = 0
    for (const holdings of this.#holdings.values()) count += holdings.count
    return count
  }

  /** @param {Holdings} holdings @returns {boolean} whether there was something */
  #receive (holdings) {
    let room = this.most - this.#count
    let hasCome = false
    for (const { text, descriptors } of holdings.packets(this.addon)) {
      hasCome = true
      if (text === MEMORY && holdings.memory === null) {
        holdings.memory = new Descriptor(descriptors[0])
        continue
      }
      const packet = decode(text)
      const { ended = [], begun = [], prefaces = [], key = '', idleMs = null } = packet ?? {}
      for (let i = 0; i < ended.length; i += 2) holdings.end(ended[i], ended[i + 1])
      descriptors.forEach((fd, i) => {
        if (2 * i + 1 >= begun.length || --room < 0) return fs.closeSync(fd)
        holdings.begin({ row: begun[2 * i], serial: begun[2 * i + 1] }, fd, key, idleMs, prefaces[i])
      })
    }
    if (room < 0) this.kernel.warnings.warnOnce({ warning: 'failover-descriptors', most: this.most })
    return hasCome
  }

  /** Packets that this worker had sent before the messages that are handled in this tick. @param {Holdings} holdings */
  #receiveOnce (holdings) {
    if (this.#received.has(holdings)) return
    if (this.#received.size === 0) process.nextTick(() => this.#received.clear())
    this.#received.add(holdings)
    this.#receive(holdings)
  }

  /**
   * A worker reads this connection from here on.
   * @param {WorkerHandle} handle @param {Copy} copy @param {Unread} socket @param {ParcelFields} parcel
   */
  keep (handle, copy, socket, { key, preface }) {
    this.suspects.kept(socket, handle, copy)
    const holdings = this.#holdings.get(handle)
    if (!holdings || this.#count >= this.most) return socket.close()
    this.#receiveOnce(holdings) // the end of the row's last connection may be on its way
    const fd = descriptorOf(socket, this.addon)
    if (fd !== null) holdings.begin(copy, fd, key, undefined, preface)
  }

  /** @param {WorkerHandle} handle @param {Copy} copy @returns {boolean | null} see suspects.js */
  #isSeen (handle, { row, serial }) {
    const bytes = this.#holdings.get(handle)?.readAt(row * ROW_BYTES, ROW_BYTES)
    if (!bytes) return true // as far as is known
    const noted = readRow(new DataView(bytes.buffer, bytes.byteOffset, ROW_BYTES), 0)
    return noted.serial === serial && noted.deaths > 0 ? noted.isSeen : null
  }

  /**
   * @param {WorkerHandle} handle one that is gone
   * @param {(outcome: Outcome) => void} settled called at once, or some turns later where there are many
   * @returns {Promise<void> | null} null: it had given no connections yet
   */
  left (handle, settled) {
    const holdings = this.#holdings.get(handle)
    if (!holdings) return null
    this.#receive(holdings)
    this.#holdings.delete(handle)
    return new Settlement(this, handle, holdings).run(outcome => {
      for (const name of COUNTED) this.totals[name] += outcome[name]
      settled(outcome)
    })
  }

  describe () {
    for (const holdings of this.#holdings.values()) this.#receive(holdings)
    return { connections: this.#count, most: this.most, ...this.totals }
  }
}

/**
 * A handle cannot give its own away.
 * @param {Unread} socket ours, closed from here on @param {Addon} addon @returns {number | null} null: it has none
 */
function descriptorOf (socket, addon) {
  const taken = socket.isDescriptor ? socket.take() : -1
  const fd = taken >= 0 ? taken : attempt(() => addon.duplicate(socket.fd), null)
  if (fd !== taken) socket.close()
  return fd
}

/** @typedef {Pick<Failover, 'take' | 'keep'>} Copies */
/** @param {Parts} kernel @returns {PrimaryPart & Partial<Copies & Pick<Failover, 'left'>>} */
function failOver (kernel) {
  const { addon, missing } = loadAddon()
  if (addon) return new Failover(kernel, addon)
  return {
    describe: () => ({ why: missing }),
    connect: () => kernel.warnings.warnOnce({ warning: 'failover-addon', why: missing })
  }
}

module.exports = { Failover, failOver }
