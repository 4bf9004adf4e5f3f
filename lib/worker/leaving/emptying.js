'use strict'

/**
 * Empties this worker: connections that can move go to siblings, clients of the others are sent a close notice, and
 * onEmpty() is called when nothing is left. There is one emptying at a time, for a purpose: a task out of rotation
 * (out-of-rotation.js), or the drain (drain.js), which takes over from it.
 *
 * @typedef {object} Terms
 * @property {boolean} handoff
 * @property {number} deadlineMs from now
 * @property {number | null} replayAfterMs from when on unanswered requests move too; null: they stay
 *
 * @typedef {object} Purpose
 * @property {() => void} onDeadline
 * @property {() => void} onLook called at an interval, and when responses end
 * @property {() => void} onEmpty no connection is left and no acceptor is open
 * @property {(isStalled: boolean) => boolean} [onBack] see handoff/sender.js
 */

const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { CloseNotice } = require('./close-notice')

class Emptying {
  /** @type {Purpose | null} */
  #purpose = null
  /** @type {NodeJS.Timeout | undefined} */
  #deadline
  /** @type {NodeJS.Timeout | undefined} */
  #replay

  /** @param {Pick<import('../enter').Parts, 'tracker' | 'acceptors' | 'sender'>} parts */
  constructor ({ tracker, acceptors, sender }) {
    this.tracker = tracker
    this.acceptors = acceptors
    this.sender = sender
    /**
     * Work that is still to be done here though no connection is left, or keeps some from moving: `release` ends what
     * can wait no longer.
     * @type {{ isActive: () => boolean, release: () => void }[]}
     */
    this.holds = []
    this.closeNotice = new CloseNotice(tracker, connection => sender.isMovable(connection))
    tracker.on('gone', () => this.check())
  }

  /** To be followed by look(). @param {Terms} terms @param {Purpose} purpose takes the place of the one before */
  begin ({ handoff, deadlineMs, replayAfterMs }, purpose) {
    clearTimeout(this.#deadline)
    clearTimeout(this.#replay)
    const deadline = this.#deadline = setTimeout(() => setImmediate(() => {
      if (this.#deadline === deadline) purpose.onDeadline()
    }), deadlineMs)
    const onLook = () => {
      this.closeNotice.step()
      purpose.onLook()
      this.check()
    }
    const onBack = (/** @type {boolean} */ isStalled) => purpose.onBack?.(isStalled) ?? true
    this.sender.begin({ quota: handoff ? Infinity : 0, isEmptying: true, onBack, onLook })
    if (this.#purpose === null) this.closeNotice.begin()
    this.#purpose = purpose
    this.closeNotice.announce()
    if (handoff && replayAfterMs !== null) this.#replay = setTimeout(() => this.sender.replay(), replayAfterMs)
  }

  look () {
    this.sender.look()
  }

  /** The emptying is over when nothing is left, and the app's sockets have emitted `close`: two turns later at most. */
  check () {
    if (this.#isEmpty) setImmediate(() => setImmediate(() => { if (this.#isEmpty) this.#finish() }))
  }

  get isHeld () {
    return this.holds.some(hold => hold.isActive())
  }

  release () {
    for (const hold of this.holds) hold.release()
  }

  get #isEmpty () {
    return this.#purpose !== null && this.tracker.total === 0 && !this.isHeld &&
      [...this.acceptors].every(({ isOpen }) => !isOpen)
  }

  #finish () {
    const purpose = this.#purpose
    this.#end()
    this.closeNotice.end()
    purpose?.onEmpty()
  }

  /** This worker stays. */
  retract () {
    this.#end()
    this.closeNotice.retract()
  }

  #end () {
    clearTimeout(this.#deadline)
    clearTimeout(this.#replay)
    this.#deadline = undefined
    this.sender.end()
    this.#purpose = null
  }
}

module.exports = { Emptying }
