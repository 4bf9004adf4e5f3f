'use strict'

/**
 * Out of rotation for a task that would block every request here: a collection, a heap snapshot; or because the app, or
 * the primary after failed probes, wants it so.
 *
 *     serving ──leave──▶ leaving ──nothing is left──▶ out ──return──▶ serving
 *        ▲                  │                          collect, tasks of features
 *        └──time is up──────┘
 *
 * Leaving is like a drain (emptying.js), but nothing is cut, and the app is not notified. A connection that cannot be
 * moved or closed (a WebSocket) is reported at once, before any close is announced to a client. A worker that is out
 * gets no connection: its acceptors are shut, and it adopts nothing.
 */

const { performance } = require('node:perf_hooks')

/** @import { Answered } from '../../messages' */

/**
 * @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'tracker' | 'admission' | 'handoff' | 'emptying'>} parts
 * @param {import('../../features/interface').WorkerPart['tasks']} [tasks]
 * @returns {{ rejoin: () => void }} `rejoin`: it serves, where it is out of rotation, or on the way
 */
function offerOutOfRotation ({ channel, state, tracker, admission, handoff: offers, emptying }, tasks) {
  let giveUp = (/** @type {string} */ why) => {}
  channel.answer({ 'leave-rotation': leave })
  for (const [type, task] of Object.entries({
    collect: (/** @type {unknown} */ _) => require('../vitals/memory').collect(), ...tasks
  })) {
    channel.answer({
      [type]: (/** @type {any} */ fields, /** @type {any} */ answer) => perform(answer, () => task(fields))
    })
  }
  channel.on({ rejoin })
  return { rejoin }

  function rejoin () {
    if (state.current === 'leaving') giveUp('it was called back')
    else if (state.current === 'out') serve()
  }

  /**
   * @param {{ deadlineMs: number, handoff: boolean, replayAfterMs: number | null, isPatient?: boolean }} order
   * @param {(answer: Answered<'leave-rotation'>) => void} answer
   */
  function leave ({ deadlineMs, handoff, replayAfterMs, isPatient = false }, answer) {
    // A task is done where it is
    if (state.current === 'out' && !isPatient) return answer({ why: null, moved: 0, tookMs: 0 })
    const whyNow = () => isPatient ? null : whyNot()
    const why = state.isServing ? whyNow() : `it is ${state.current} already`
    if (why) return answer({ why, moved: 0 })
    const began = performance.now()
    const before = offers.moved
    const moved = () => offers.moved - before
    giveUp = why => {
      emptying.retract()
      serve()
      answer({ why, moved: moved() })
    }
    state.become('leaving')
    admission.pause()
    emptying.begin({ handoff, deadlineMs, replayAfterMs }, {
      onDeadline: () =>
        giveUp(`${tracker.total} of its connections are left, with ${tracker.requests.inFlight} requests in flight`),
      onLook () {
        const why = whyNow()
        if (why) giveUp(why)
      },
      onEmpty () {
        state.become('out')
        answer({ why: null, moved: moved(), tookMs: performance.now() - began })
      }
    })
    emptying.look()
  }

  function serve () {
    state.become('serving')
    admission.open()
  }

  /**
   * @param {(answer: object) => void} answer
   * @param {() => object} task blocks this thread until it is done
   */
  function perform (answer, task) {
    if (state.current !== 'out') return answer({ why: 'it is in rotation' })
    try {
      answer({ why: null, ...task() })
    } catch (error) {
      answer({ why: /** @type {Error} */ (error).message })
    }
  }

  /** @returns {string | null} what cannot be emptied, whatever the time */
  function whyNot () {
    const foreign = [...tracker.connections].filter(holdsWorker).length
    return foreign > 0 ? `${foreign} of its connections are upgraded or raw, and cannot be moved` : null
  }
}

/** @param {import('../connections/connection').Connection} connection */
const holdsWorker = ({ isForeign, pack, socket }) => isForeign && pack === null && !socket.destroyed

module.exports = { offerOutOfRotation }
