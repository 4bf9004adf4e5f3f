'use strict'

/**
 * Sessions (`--sticky`) over a succession. The old primary tells which slot has which session before the new one leads;
 * from then on what its workers give away goes to the new fleet, state first. A request of a session that an old worker
 * still has waits in the new primary.
 */

const { ownerOf } = require('./rendezvous')
/** @import { State } from './owners' */

const AT_ONCE = 1000 // sessions in a message

/** @import { Peer } from '../../primary/succession/peer' */

/** In the old primary: what it tells its successor. */
class SessionsForSuccessor {
  /** Of state: what is lost with a successor that dies. */
  sent = { sessions: 0, chars: 0 }

  /**
   * @param {Peer} successor @param {ReadonlyMap<string, number>} slots by session
   * @param {readonly number[]} wanted the fleet's slots
   */
  constructor (successor, slots, wanted) {
    this.successor = successor
    const sessions = Array.from(slots, ([session, slot]) => ({ session, slot }))
    for (let i = 0; i === 0 || i < sessions.length; i += AT_ONCE) {
      successor.send('sessions', { slots: wanted, sessions: sessions.slice(i, i + AT_ONCE) })
    }
  }

  /** A worker has begun it. @param {string} session @param {number} slot */
  began (session, slot) {
    this.successor.send('sessions', { slots: [], sessions: [{ session, slot }] })
  }

  /** @param {State} state */
  give (state) {
    this.sent.sessions++
    this.sent.chars += state.value.length
    this.successor.send('transfer', state)
  }

  /** @param {number} slot @param {string[]} except the sessions that its workers still have */
  left (slot, except) {
    this.successor.send('transferred', { slot, except })
  }
}

/** In the new primary: which sessions the old one's workers still have. */
class SessionsOfPredecessor {
  /** Slots of the predecessor. @type {number[]} */
  #slots = []
  /** Sessions of each slot's workers: all of its sessions, or these. @type {Map<number, 'all' | Set<string>>} */
  #kept = new Map()
  /** Sessions that are this fleet's by now. @type {Set<string>} */
  #given = new Set()

  /**
   * @param {import('../../primary/succession/takeover').Takeover} takeover @param {object} to
   * @param {(session: string, slot: number) => void} to.learn @param {(state: State) => void} to.take
   * @param {() => void} to.moved to be called when sessions have left it
   */
  constructor (takeover, { learn, take, moved }) {
    const end = () => {
      this.#kept.clear()
      this.#given.clear()
      moved()
    }
    takeover.predecessor.hear({
      sessions: ({ slots, sessions }) => {
        if (slots.length > 0) this.#slots = slots
        for (const slot of slots) this.#kept.set(slot, 'all')
        for (const { session, slot } of sessions) learn(session, slot)
      },
      transfer: state => {
        this.give(state.session)
        take(state)
        moved()
      },
      transferred: ({ slot, except }) => {
        if (except.length > 0) this.#kept.set(slot, new Set(except))
        else this.#kept.delete(slot)
        if (this.#kept.size === 0) end()
        else moved()
      }
    })
    takeover.on('over', end)
  }

  /** The session is this fleet's from here on. @param {string} session */
  give (session) {
    if (this.#kept.size > 0) this.#given.add(session)
  }

  /** @param {string} session @param {number} [slot] the one that began it */
  has (session, slot) {
    if (this.#kept.size === 0 || this.#given.has(session)) return false
    const kept = this.#kept.get(slot ?? ownerOf(session, this.#slots))
    return kept === 'all' || kept?.has(session) === true
  }
}

module.exports = { SessionsForSuccessor, SessionsOfPredecessor }
