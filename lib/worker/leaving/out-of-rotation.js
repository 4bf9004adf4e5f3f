'use strict'

/**
 * Out of rotation for a task that would block every request here: a collection, a heap snapshot.
 *
 *     serving ──leave──▶ leaving ──nothing is left──▶ out ──return──▶ serving
 *        ▲                  │                          collect, heapdump
 *        └──time is up──────┘
 *
 * Leaving is like a drain (emptying.js), but nothing is cut, and the app is not notified. A connection that
 * cannot be moved or closed (a WebSocket) is reported at once, before any close is announced to a client. A worker that is
 * out gets no connection: its acceptors are shut, and it adopts nothing.
 */

const { performance } = require('node:perf_hooks')

/** @typedef {(fields: Record<string, any>) => void} Answer */

class OutOfRotation {
  /** @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'tracker' | 'admission' | 'emptying'>} parts */
  constructor ({ channel, state, tracker, admission, emptying }) {
    this.state = state
    this.tracker = tracker
    this.admission = admission
    this.emptying = emptying
    /** Gives up leaving. @type {(why: string) => void} */
    this.giveUp = () => {}
    channel.answer({
      'leave-rotation': (order, answer) => this.#begin(order, answer),
      collect: (_, answer) => this.#do(answer, () => require('../health/memory').collect()),
      heapdump: ({ file }, answer) => this.#do(answer, () => require('../health/memory').dumpHeap(file))
    })
    channel.on({
      rejoin: () => {
        if (state.current === 'leaving') this.giveUp('it was called back')
        else if (state.current === 'out') this.#return()
      }
    })
  }

  /** Its addresses are given up; the order to drain follows. */
  cancel () {
    if (this.state.current === 'leaving') this.emptying.retract()
  }

  /** @param {{ deadlineMs: number, handoff: boolean }} order @param {Answer} answer */
  #begin ({ deadlineMs, handoff }, answer) {
    const { state, emptying } = this
    const why = state.isServing ? this.#whyNot() : `it is ${state.current} already`
    if (why) return answer({ why, moved: 0 })
    const began = performance.now()
    let moved = 0
    this.giveUp = why => {
      emptying.retract()
      this.#return()
      answer({ why, moved })
    }
    state.become('leaving')
    this.admission.shut()
    emptying.begin({
      handoff,
      deadlineMs,
      onDeadline: () => this.giveUp(this.#whatIsLeft()),
      onLook: () => {
        const why = this.#whyNot()
        if (why) this.giveUp(why)
      },
      onEmpty () {
        state.become('out')
        answer({ why: null, moved, tookMs: performance.now() - began })
      },
      onGone: ({ fate }) => { if (fate === 'moved') moved++ }
    })
    emptying.look()
  }

  #return () {
    this.state.become('serving')
    this.admission.open()
  }

  /** @param {Answer} answer @param {() => Record<string, any>} task blocks this thread until it is done */
  #do (answer, task) {
    if (this.state.current !== 'out') return answer({ why: 'it is in rotation' })
    try {
      answer({ why: null, ...task() })
    } catch (error) {
      answer({ why: /** @type {Error} */ (error).message })
    }
  }

  /** @returns {string | null} what cannot be emptied, whatever the time */
  #whyNot () {
    const foreign = [...this.tracker.connections].filter(isForeign).length
    return foreign > 0 ? `${foreign} of its connections are upgraded or raw, and cannot be moved` : null
  }

  #whatIsLeft () {
    return `${this.tracker.total} of its connections are left, with ${this.tracker.inFlight} requests in flight`
  }
}

/** A connection without a parser, except during its TLS handshake. @param {import('../connections/connection').Connection} connection */
function isForeign (connection) {
  return connection.isForeign && !connection.socket.destroyed && !(connection.secure === null && 'setSecureContext' in connection.acceptor.server)
}

module.exports = { OutOfRotation }
