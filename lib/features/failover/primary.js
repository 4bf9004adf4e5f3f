'use strict'

/**
 * In the primary: has a descriptor of each connection that lasts, and decides what becomes of them when a worker has
 * died. It reads nothing of them, and is told nothing: what the dead worker was doing with each is in its memory, and
 * must agree with what the kernel has counted.
 */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { setTimeout } = require('node:timers')
const { LONGEST_PATH } = require('../../core/account')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')
const { descriptorLimit } = require('../../native/descriptor-limit')
const { decide, readRequest } = require('./decision')
const { Holdings } = require('./holdings')
const { answerLast, closeGently } = require('./last-answer')
const { MEMORY, TICK_MS, decode } = require('./packet')
const { PREFIX_BYTES, ROW_BYTES, bytesOf, readRow } = require('./row')
const { Suspects } = require('./suspects')

/**
 * @typedef {import('../../primary/workers/worker-handle').WorkerHandle} WorkerHandle
 * @typedef {import('./holdings').Held} Held
 * @typedef {import('../../core/account').Outcome} Outcome
 * @typedef {import('./row').Row} Row
 * @typedef {import('./row').Bytes} Bytes
 */

const SHARE = 0.8 // of the descriptors that this process may have: the others are for its own work
const LEAST_OWN = 128
const MOST_NAMED = 1000 // requests that were lost with one worker
const LONGEST_MS = 800 // between two looks at what workers have sent
const IDLE_MS = 5000 // of a connection whose server has not told

class Failover {
  /** @type {Map<WorkerHandle, Holdings>} */
  #holdings = new Map()
  #isTold = false
  #isLooking = false
  totals = { moved: 0, replayed: 0, answered: 0, cut: 0 }

  /** @param {import('../interface').PrimaryKernel} kernel @param {import('../../native/addon').Addon} addon */
  constructor (kernel, addon) {
    this.kernel = kernel
    this.addon = addon
    this.suspects = new Suspects(() => kernel.fleet.serving(), (handle, copy) => this.#isInFlight(handle, copy))
    const limit = descriptorLimit()
    this.most = Math.max(0, Math.floor(Math.min(SHARE * limit, limit - LEAST_OWN)))
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.once('entered', () => this.#open(handle))
    // Before the ledger sends it back, perhaps
    handle.on('offers', ({ parcel: { copy } }, socket) => { if (copy && socket) this.#lend(handle, copy) })
  }

  /**
   * @param {WorkerHandle} handle
   * @param {import('../../worker/connections/parcel').Copy} copy of a connection that the ledger has
   */
  #lend (handle, copy) {
    const holdings = this.#holdings.get(handle)
    if (!holdings) return
    this.#receive(holdings) // it may be on its way
    holdings.lend(copy)
  }

  /** @param {WorkerHandle} handle */
  #open (handle) {
    if (handle.isGone) return // it is read late
    const [ours, theirs] = this.addon.socketpair().map(fd => new Descriptor(fd))
    this.#holdings.set(handle, new Holdings(ours))
    if (!this.#isLooking) this.#look(TICK_MS)
    handle.give('duplicates', theirs)
  }

  /**
   * What a worker sends waits where it is, also when that worker has died: so it is looked for rarely, while little
   * comes, and not at all while no worker is there.
   *
   * @param {number} afterMs
   */
  #look (afterMs) {
    this.#isLooking = this.#holdings.size > 0
    if (!this.#isLooking) return
    setTimeout(() => {
      let hasCome = false
      for (const holdings of this.#holdings.values()) hasCome = this.#receive(holdings) || hasCome
      this.#look(hasCome ? TICK_MS : Math.min(2 * afterMs, LONGEST_MS))
    }, afterMs).unref()
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
      const { ended = [], begun = [], key = '', idleMs = null } = packet ?? {}
      for (let i = 0; i < ended.length; i += 2) holdings.end(ended[i], ended[i + 1])
      descriptors.forEach((fd, i) => {
        if (2 * i + 1 >= begun.length || --room < 0) return fs.closeSync(fd)
        holdings.begin({ row: begun[2 * i], serial: begun[2 * i + 1] }, fd, key, idleMs)
      })
    }
    if (room < 0) this.#tell()
    return hasCome
  }

  /**
   * A worker reads this connection from here on.
   *
   * @param {WorkerHandle} handle @param {import('../../worker/connections/parcel').Copy} copy @param {any} socket
   * @param {string} key
   */
  kept (handle, copy, socket, key) {
    this.suspects.kept(socket, handle, copy)
    const holdings = this.#holdings.get(handle)
    if (holdings && this.#count < this.most) holdings.begin(copy, socket, key)
    else socket.close()
  }

  /** @param {WorkerHandle} handle @param {import('../../worker/connections/parcel').Copy} copy */
  #isInFlight (handle, { row, serial }) {
    const bytes = this.#holdings.get(handle)?.readAt(row * ROW_BYTES, ROW_BYTES)
    if (!bytes) return true // as far as is known
    const noted = readRow(new DataView(bytes.buffer, bytes.byteOffset, ROW_BYTES), 0)
    return noted.serial === serial && noted.deaths > 0
  }

  #tell () {
    if (this.#isTold) return
    this.#isTold = true
    this.kernel.record('fleet.warning', { warning: 'failover-descriptors', most: this.most })
  }

  /** @param {WorkerHandle} handle one that is gone @returns {Outcome | null} null: it had given no connections yet */
  left (handle) {
    const holdings = this.#holdings.get(handle)
    if (!holdings) return null
    this.#receive(holdings)
    this.#holdings.delete(handle)
    /** @type {Outcome} */
    const outcome = { moved: 0, replayed: 0, answered: 0, cut: 0, ended: 0, cuts: [] }
    const all = [...holdings.read()].map(held => {
      const counted = this.addon.bytesOf(held.socket.fd)
      const bytes = counted ? bytesOf(counted) : null
      return { ...held, bytes, request: bytes ? keptOf(holdings, held.row, bytes) : null }
    })
    const isBlocked = ['no-account', 'blocked'].includes(String(handle.process.killedFor))
    const latest = isBlocked ? latestOf(all.flatMap(({ request }) => request ?? [])) : null
    const blocks = (/** @type {typeof all[0]} */ { row, request }) =>
      handle.blockedBy === null ? request === latest : row.serial === handle.blockedBy
    /** @type {import('./suspects').Suspect[]} */
    const suspects = []
    for (const held of all) this.#settle(handle, held, isBlocked && blocks(held), outcome, suspects)
    // Of a worker that was killed by its primary the cause is known; and another primary's would not be waited for
    const isSuspicious = handle.process.killedFor === null && this.kernel.isSole() && suspects.length > 1
    if (isSuspicious) this.suspects.add(suspects)
    else for (const { give } of suspects) give(new Set())
    holdings.close()
    for (const name of /** @type {const} */ (['moved', 'replayed', 'answered', 'cut'])) this.totals[name] += outcome[name]
    return outcome
  }

  /**
   * @param {WorkerHandle} worker @param {Held & { bytes: Bytes | null, request: Kept | null }} held
   * @param {boolean} isBlocking its request is not given to another worker
   * @param {Outcome} outcome @param {import('./suspects').Suspect[]} suspects gets what goes on with what was read
   */
  #settle (worker, { socket, row, key, idleMs, bytes, request }, isBlocking, outcome, suspects) {
    const { end, given, hasLeft } = decide(row, bytes, request, {
      isStopping: this.kernel.isStopping(), isBlocking, isReplaying: this.kernel.options.replay === 'safe'
    })
    const isOver = end.startsWith('closed') || (end === 'answered' && hasLeft)
    const counted = isOver ? 'ended' : end === 'reset' ? 'cut' : /** @type {'moved' | 'replayed' | 'answered'} */ (end)
    outcome[counted]++
    if ((counted === 'cut' || counted === 'answered') && outcome.cuts.length < MOST_NAMED) {
      outcome.cuts.push(nameCut(request, peerOf(socket).port, row.deaths))
    }
    if (end === 'closed') return socket.close()
    if (end === 'moved' || end === 'replayed') {
      if (!given || !request) {
        return this.kernel.give(worker, { key, leftMs: idleMs === undefined ? IDLE_MS : idleMs }, socket)
      }
      const parcel = { key, ...this.#withBytes(given, request, row, end === 'replayed', socket) }
      suspects.push({
        socket, key, ageMs: request.ageMs, give: apart => this.kernel.give(worker, parcel, socket, apart)
      })
      return
    }
    if (end === 'reset') {
      this.addon.shut(socket.fd, true)
      return socket.close()
    }
    const handle = handleOf(socket)
    if (!handle) return
    if (end === 'answered') answerLast(handle, row.hasThrown ? 500 : 502)
    else closeGently(handle)
  }

  /**
   * @param {Buffer} given @param {Kept} request @param {Row} row @param {boolean} isReplayed
   * @param {import('./holdings').Socket} socket
   */
  #withBytes (given, request, { deaths }, isReplayed, socket) {
    const session = this.#sessionOf(request, socket)
    return { leftMs: null, bytes: given.toString('base64'), deaths: deaths + 1, ...isReplayed && { replayed: 1 }, ...session !== null && { session } }
  }

  /**
   * @param {Kept} request @param {import('./holdings').Socket} socket
   * @returns {string | null} its worker-to-be is that of its session
   */
  #sessionOf ({ head }, socket) {
    if (head === null) return null
    const { url, headers } = head
    const byName = Object.fromEntries(headers.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1]]] : []))
    return this.kernel.sessionOf({
      url, headers: byName, socket: { get remoteAddress () { return peerOf(socket).address } }
    })
  }

  describe () {
    return { connections: this.#count, most: this.most, ...this.totals }
  }
}

/** @typedef {import('./decision').Request & { ageMs: number }} Kept */

/**
 * @param {Holdings} holdings @param {Row} row @param {Bytes} counted
 * @returns {Kept | null} null: nothing is kept
 */
function keptOf (holdings, row, counted) {
  const kept = holdings.keptOf(row, counted)
  if (!kept) return null
  const ageMs = performance.timeOrigin + performance.now() - kept.readDoubleLE(0)
  return {
    ...readRequest(kept.subarray(PREFIX_BYTES)),
    ageMs: Number.isFinite(ageMs) ? Math.max(0, Math.round(ageMs)) : 0
  }
}

/** Of a worker that was blocked: most likely by this one. @param {Kept[]} requests */
function latestOf (requests) {
  return requests.reduce((/** @type {Kept | null} */ latest, request) =>
    latest === null || request.ageMs < latest.ageMs ? request : latest, null)
}

/** @param {any} socket a Descriptor, or a handle @returns {any} a handle of Node's; null: it is closed */
function handleOf (socket) {
  return socket.isDescriptor ? socket.handle : socket
}

/** @param {import('./holdings').Socket} socket @returns {{ address?: string, port?: number }} */
function peerOf (socket) {
  const peer = {}
  handleOf(socket)?.getpeername?.(peer)
  return peer
}

/**
 * @param {Kept | null} request @param {number | null} [remotePort] @param {number} [deaths]
 * @returns {import('../../core/account').Cut}
 */
function nameCut (request, remotePort = null, deaths = 0) {
  return {
    method: request?.head ? request.head.method.slice(0, 100) : null,
    path: request?.head ? request.head.url.split('?')[0].slice(0, LONGEST_PATH) : null,
    ageMs: request?.ageMs ?? 0,
    remotePort,
    upgraded: false,
    ...deaths > 0 && { deaths }
  }
}

/** @param {import('../interface').PrimaryKernel} kernel @returns {import('../interface').PrimaryPart} */
function failOver (kernel) {
  const { addon, missing } = loadAddon()
  if (addon) return new Failover(kernel, addon)
  let isTold = false
  return {
    describe: () => ({ why: missing }),
    connect () {
      if (!isTold) kernel.record('fleet.warning', { warning: 'failover-addon', why: missing })
      isTold = true
    }
  }
}

module.exports = { failOver }
