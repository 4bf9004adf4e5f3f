'use strict'

/**
 * Closes WebSockets as their worker drains, for their clients to connect again: all of them where none can go to a
 * sibling, as at a stop, and else those that cannot. Many are closed one after the other, since all come back.
 */

const { setTimeout: passed } = require('node:timers/promises')

const AT_ONCE = 100
const STEP_MS = 20
const STOP_MS = 1500 // the service is down: clients are to know at once
const RELOAD_MS = 10_000 // the siblings take them meanwhile, beside what they do
const SHARE = 0.5 // of the time until what is open is cut

/**
 * @typedef {object} Said of a connection, by its socket
 * @property {(socket: import('node:net').Socket, why: import('../../core/why-stayed').Why) => void} stays for what it
 *   cannot move
 * @property {(socket: import('node:net').Socket, isLast: boolean) => void} restarted it is closed with 1012; `isLast`:
 *   none could move
 * @property {(socket: import('node:net').Socket, messages: number) => void} heard they have come
 */

/**
 * @typedef {(fn: (about: { deadlineMs: number, handoff: boolean }) => unknown) => void} Heard
 *
 * @typedef {{ movable: Function, onMoved: Function, onDrain: Heard, onAlone: Heard, said: Said }} MovingApi
 */

/**
 * @template T @param {Pick<MovingApi, 'onDrain' | 'onAlone'>} api @param {object} how
 * @param {() => T[]} how.all that are open @param {(one: T) => boolean} how.canGo @param {(one: T) => void} how.close
 * @returns {() => boolean} this worker leaves, and none of them can go to a sibling
 */
function closeAtDrain ({ onDrain, onAlone }, { all, canGo, close }) {
  let isLast = false
  const closeSome = async (/** @type {{ deadlineMs: number, handoff: boolean }} */ { deadlineMs, handoff }) => {
    isLast = !handoff
    const leaving = handoff ? all().filter(one => !canGo(one)) : all()
    const withinMs = Math.min(handoff ? RELOAD_MS : STOP_MS, SHARE * deadlineMs)
    const steps = Math.max(1, Math.floor(withinMs / STEP_MS))
    const each = leaving.length <= AT_ONCE && !handoff ? AT_ONCE : Math.ceil(leaving.length / steps)
    for (let at = 0; at < leaving.length; at += each) {
      if (at > 0) await passed(STEP_MS)
      for (const one of leaving.slice(at, at + each)) close(one)
    }
  }
  onDrain(closeSome)
  onAlone(closeSome)
  return () => isLast
}

module.exports = { closeAtDrain }
