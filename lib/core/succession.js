'use strict'

/**
 * The succession of a primary by another one, which takes its fleet over, as the two see it. Pure.
 *
 *     predecessor                            successor
 *     running                                booting
 *     starting       ◀──────────── hello ────
 *     preparing      ──── sockets, begin ──▶ preparing     its workers boot, and do not accept
 *                    ◀───────── prepared ─── waiting
 *     handing-over   ────────────── go ────▶ leading       its workers accept, beside those of the predecessor
 *     leaving        ◀────────── serving ───
 *                    ─ connections, left ──▶ sole
 *     left
 *
 * Until `serving` the predecessor serves as before, so that whatever befalls the successor changes nothing. A successor
 * that has the sockets leads when the predecessor dies. A predecessor whose successor dies before it has left runs the
 * fleet again.
 *
 * @typedef {'running' | 'starting' | 'preparing' | 'handing-over' | 'leaving' | 'left'} PredecessorState
 * @typedef {'booting' | 'preparing' | 'waiting' | 'leading' | 'sole' | 'ended'} SuccessorState
 */

/** @template {string} State @typedef {Readonly<Record<State, Readonly<Record<string, State>>>>} Transitions by event */

/** `gone`: the successor has failed, exited or not answered in time. @type {Transitions<PredecessorState>} */
const PREDECESSOR = Object.freeze({
  running: { start: 'starting' },
  starting: { hello: 'preparing', gone: 'running' },
  preparing: { prepared: 'handing-over', gone: 'running' },
  'handing-over': { serving: 'leaving', gone: 'running' },
  leaving: { left: 'left', gone: 'running' },
  left: {}
})

/** `gone`: the predecessor has died; `abort`: it does without this one. @type {Transitions<SuccessorState>} */
const SUCCESSOR = Object.freeze({
  booting: { begin: 'preparing', gone: 'ended', abort: 'ended', failed: 'ended' },
  preparing: { prepared: 'waiting', gone: 'leading', abort: 'ended', failed: 'ended' },
  waiting: { go: 'leading', gone: 'leading', abort: 'ended', failed: 'ended' },
  leading: { left: 'sole', gone: 'sole', failed: 'ended' },
  sole: {},
  ended: {}
})

/**
 * @template {string} State
 * @param {Readonly<Record<State, Readonly<Record<string, State>>>>} table @param {State} from @param {string} event
 * @returns {State | null} null: the event does not belong there
 */
const next = (table, from, event) => Object.hasOwn(table[from], event) ? table[from][event] : null

module.exports = { PREDECESSOR, SUCCESSOR, next }
