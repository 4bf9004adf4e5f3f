'use strict'

/**
 * The state of the hub: the desktops, the torus that they form, and the sprites that have not been acknowledged. No
 * clock, no sockets: the time is an argument, and what is to be sent goes to a `Link`.
 *
 * A sprite that is thrown gets the next number of its receiver, and is kept until a poll of the receiver acknowledges
 * this number. A poll that moves to another worker, or is repeated, has the acknowledgement that it had, so it gets the
 * same sprites again.
 */

const { randomBytes } = require('node:crypto')
const { Torus, Node } = require('./torus')

/** Sprites that are kept for one desktop; further ones are refused. */
const MOST_KEPT = 1000
/** The edge of the receiver at which a sprite comes in, by the edge that it left at. @type {Record<string, Edge>} */
const ENTERS = { left: 'right', right: 'left', up: 'down', down: 'up', any: 'left' }

/** @typedef {'left' | 'right' | 'up' | 'down'} Edge */
/** @typedef {{ send: (message: Record<string, any>) => void }} Link a worker, as the hub sees it */
/** @typedef {{ number: number, from: string, edge: Edge, sprite: unknown }} Kept */

/** @type {Kept[]} */
const NONE = []

class Desktop extends Node {
  /** The worker in which a poll is parked. @type {Link | null} */
  link = null
  /** The number that the poll has in this worker. */
  poll = 0
  /** Changes with the neighbours. */
  stitch = 1
  /** Whether the poll is answered when the neighbours change. */
  isWatching = false
  /** Of the latest sprite thrown to it. */
  number = 0
  /** Of the latest sprite thrown by it, as it counts. */
  thrown = 0
  /** Its place in the list of all. */
  index = 0
  kept = NONE

  /** @param {string} id @param {string} name */
  constructor (id, name) {
    super()
    this.id = id
    this.name = name
  }
}

class Desktops {
  /** @type {Torus<Desktop>} */
  #torus = new Torus()
  /** @type {Map<string, Desktop>} */
  #byId = new Map()
  /** For one at random. @type {Desktop[]} */
  #all = []
  /**
   * Desktops without a parked poll, each with the time from which on: the earliest first.
   *
   * @type {Map<Desktop, number>}
   */
  #idle = new Map()
  #counts = { joined: 0, thrown: 0, acknowledged: 0, vanished: 0, expired: 0, mostTouched: 0 }
  /** Of what happens now, in ms. */
  #now = 0

  /**
   * @param {{ graceMs?: number, random?: () => number }} [how] `graceMs`: a desktop without a poll for this long has
   *   left
   */
  constructor ({ graceMs = 60_000, random = Math.random } = {}) {
    this.graceMs = graceMs
    this.random = random
  }

  /**
   * What a worker sends: `op` is join, leave, throw, poll, unpark or stats. With a `call` it gets an answer of this
   * number.
   *
   * @param {Link} link
   * @param {Record<string, any>} message
   * @param {number} now in ms
   */
  receive (link, message, now) {
    this.#now = now
    switch (message.op) {
      case 'poll': return this.#poll(link, /** @type {any} */ (message))
      case 'unpark': return this.#unpark(link, /** @type {any} */ (message))
      case 'join': return link.send({ call: message.call, ...this.#join(message) })
      case 'leave': return link.send({ call: message.call, ...this.#leave(message.id) })
      case 'throw': return link.send({ call: message.call, ...this.#throw(/** @type {any} */ (message)) })
      case 'stats': return link.send({ call: message.call, ...this.stats() })
    }
  }

  /** A worker has gone, with its polls. @param {Link} link @param {number} now */
  disconnected (link, now) {
    this.#now = now
    for (const desktop of this.#all) if (desktop.link === link) this.#setIdle(desktop)
  }

  /** Removes the desktops that have had no poll for the time of grace. @param {number} now */
  expire (now) {
    this.#now = now
    for (const [desktop, since] of this.#idle) {
      if (now - since < this.graceMs) break
      this.#counts.expired++
      this.#remove(desktop)
    }
  }

  stats () {
    const { size } = this.#torus
    return {
      ...this.#counts,
      desktops: size,
      parked: size - this.#idle.size,
      kept: this.#all.reduce((sum, { kept }) => sum + kept.length, 0)
    }
  }

  /** @param {{ name?: string }} how */
  #join ({ name = '' }) {
    const desktop = new Desktop(randomBytes(12).toString('base64url'), name || `desktop ${this.#counts.joined + 1}`)
    this.#counts.joined++
    this.#byId.set(desktop.id, desktop)
    desktop.index = this.#all.push(desktop) - 1
    this.#setIdle(desktop)
    this.#restitched(this.#torus.add(desktop))
    return { id: desktop.id, name: desktop.name, stitch: desktop.stitch, neighbours: neighboursOf(desktop) }
  }

  /** What it has not acknowledged flies on. @param {string} id */
  #leave (id) {
    const desktop = this.#byId.get(id)
    if (!desktop) return { error: 'unknown' }
    this.#answer(desktop, { error: 'unknown' })
    this.#remove(desktop)
    return {}
  }

  /**
   * @param {{ id: string, edge: Edge | 'any', sprite: unknown, number?: number }} what `edge` any: to a desktop at
   *   random; `number`: the sender's own, from 1 on; one that it has already used is not thrown again
   */
  #throw ({ id, edge, sprite, number = 0 }) {
    const desktop = this.#byId.get(id)
    if (!desktop) return { error: 'unknown' }
    if (number > 0 && number <= desktop.thrown) return { repeated: true }
    const receiver = edge === 'any' ? this.#any(desktop) : desktop[edge]
    if (receiver.kept.length >= MOST_KEPT) return { error: 'full' }
    if (number > 0) desktop.thrown = number
    this.#counts.thrown++
    this.#give(receiver, { number: 0, from: desktop.name, edge: ENTERS[edge], sprite })
    return { to: receiver.name }
  }

  /**
   * Parks a poll, or answers it at once.
   *
   * @param {Link} link
   * @param {{ id: string, ack: number, poll: number, stitch?: number }} about `ack`: the number of the latest sprite
   *   that arrived; `stitch`: of the neighbours that the client knows; without it the poll does not wait for others
   */
  #poll (link, { id, ack, poll, stitch }) {
    const desktop = this.#byId.get(id)
    if (!desktop) return link.send({ poll, error: 'unknown' })
    if (desktop.link && (desktop.link !== link || desktop.poll !== poll)) desktop.link.send({ poll: desktop.poll, error: 'replaced' })
    desktop.link = link
    desktop.poll = poll
    desktop.isWatching = stitch !== undefined
    this.#idle.delete(desktop)
    if (desktop.kept !== NONE) {
      const kept = desktop.kept.filter(({ number }) => number > ack)
      this.#counts.acknowledged += desktop.kept.length - kept.length
      desktop.kept = kept.length > 0 ? kept : NONE
    }
    if (desktop.kept !== NONE || (desktop.isWatching && stitch !== desktop.stitch)) this.#deliver(desktop)
  }

  /**
   * A poll has ended without an answer: its client has left, or it has moved.
   *
   * @param {Link} link @param {{ id: string, poll: number }} which
   */
  #unpark (link, { id, poll }) {
    const desktop = this.#byId.get(id)
    if (desktop?.link === link && desktop.poll === poll) this.#setIdle(desktop)
  }

  /** @param {Desktop} receiver @param {Kept} sprite */
  #give (receiver, sprite) {
    sprite.number = ++receiver.number
    if (receiver.kept === NONE) receiver.kept = [sprite]
    else receiver.kept.push(sprite)
    this.#deliver(receiver)
  }

  /** @param {Desktop} desktop */
  #deliver (desktop) {
    if (!desktop.link) return
    const { kept: sprites, isWatching, stitch } = desktop
    this.#answer(desktop, isWatching ? { sprites, stitch, neighbours: neighboursOf(desktop) } : { sprites })
  }

  /** @param {Desktop} desktop @param {Record<string, any>} answer */
  #answer (desktop, answer) {
    if (!desktop.link) return
    desktop.link.send({ poll: desktop.poll, ...answer })
    this.#setIdle(desktop)
  }

  /** @param {Desktop} desktop */
  #setIdle (desktop) {
    desktop.link = null
    this.#idle.set(desktop, this.#now)
  }

  /** @param {Desktop} desktop */
  #remove (desktop) {
    const { left, right, up, down, kept } = desktop
    this.#byId.delete(desktop.id)
    this.#idle.delete(desktop)
    const last = /** @type {Desktop} */ (this.#all.pop())
    if (last !== desktop) {
      this.#all[desktop.index] = last
      last.index = desktop.index
    }
    this.#restitched(this.#torus.remove(desktop))
    const next = { left: right, right: left, up: down, down: up }
    for (const sprite of kept) {
      const to = next[sprite.edge] === desktop ? this.#all[0] : next[sprite.edge]
      if (to) this.#give(to, sprite)
      else this.#counts.vanished++ // no desktop is left
    }
  }

  /** @param {Desktop} but */
  #any (but) {
    const others = this.#all.length - 1
    if (others === 0) return but
    const index = Math.floor(this.random() * others)
    return this.#all[index < but.index ? index : index + 1]
  }

  /** @param {Set<Desktop>} touched */
  #restitched (touched) {
    this.#counts.mostTouched = Math.max(this.#counts.mostTouched, touched.size)
    for (const desktop of touched) {
      desktop.stitch++
      if (desktop.isWatching) this.#deliver(desktop)
    }
  }
}

/** @param {Desktop} desktop */
function neighboursOf ({ left, right, up, down }) {
  return { left: left.name, right: right.name, up: up.name, down: down.name }
}

module.exports = { Desktops, MOST_KEPT }
