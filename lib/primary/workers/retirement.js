'use strict'

/**
 * The end of a worker's life, each step with its deadline armed before it begins:
 *
 *     drain ─▶ its account ─▶ SIGTERM, so that the app's own handlers can close its pools ─▶ SIGKILL
 *
 * A worker that gives no account is killed: one that has said nothing since its deadline (it is blocked, or stopped) at
 * the kill timeout after that, one that is heard a little later. A retirement under way can be hurried: the worker gets
 * the shorter deadline.
 */

const { openAccount, lostAccount, rescuedAccount } = require('../../core/account')
const { REPLAY_MS } = require('../../core/request-replay')
const { now } = require('../clock')
/** @import { Recording } from '../../journal/events' */
/** @import { Order } from '../../tables/message' */
/** @import { Options } from '../../tables/options' */
/** @import { WorkerHandle } from './worker-handle' */

const ANSWER_MS = 3000 // beyond its deadline, for a worker to have its streams ended and to say what it cut
const REAP_MS = 10_000
const BEFORE_KILL_MS = 1000 // that a kill waits for what a worker still has to say
const SILENT_MS = 1000 // a heartbeat comes twice a second: at a shorter kill timeout silence says nothing

/**
 * @typedef {object} Leaving
 * @property {string} why
 * @property {{ deadlineMs?: number, lingerMs?: number | null, killTimeoutMs?: number }} [times] by default those of the
 *   options; `lingerMs`: how long idle connections are held, null: as long as the drain lasts
 * @property {'siblings' | 'successor' | 'none'} [to] which workers get its connections, and at last its requests
 * @property {Promise<unknown>} [after] when it is ordered to; rejected: by another call
 *
 * @typedef {import('../../core/account').Account & { lost: boolean, ended: 'retired' | 'killed' | 'crashed' }}
 *   FinalAccount `lost`: the worker did not answer; `inFlight`, `connections`, `cut` and `unaccounted` are by its last
 *   beat. `killed`: by the primary
 * @typedef {{ account: FinalAccount, drainMs: number }} Retired
 *
 * @typedef {Pick<import('../features').RunningFeatures, 'beforeKill'>} Asked what is still to be known of a worker
 */

/** @param {Options} options @returns {number | null} ms; null: no request is replayed */
function replayAfter ({ handoff, replay, replayAfterMs, drainTimeoutMs }) {
  return handoff && replay === 'safe' ? replayAfterMs ?? drainTimeoutMs : null
}

/** @param {'retired' | 'crashed'} ended @returns {Retired} */
const nothingLeft = ended => ({ account: { ...openAccount(0, 0), lost: false, ended }, drainMs: 0 })

/** @type {WeakMap<WorkerHandle, Retirement>} */
const underWay = new WeakMap()

/**
 * Has a worker leave, or hurries one that leaves already.
 * @param {WorkerHandle} handle in any state @param {Leaving} how
 * @param {{ options: Options, record: Recording, features: Asked }} deps `record` takes `worker.drain`, as it begins
 * @returns {Promise<Retired>} resolves when the worker is gone
 */
function leave (handle, { why: reason, times, to = 'siblings', after }, { options, record, features }) {
  const { drainTimeoutMs: deadlineMs, killTimeoutMs: defaultMs, handoff } = options
  const { killTimeoutMs = defaultMs, ...given } = times ?? {}
  const moved = to === 'none'
    ? { handoff: false, replayAfterMs: null }
    : { handoff, replayAfterMs: replayAfter(options), ...to === 'successor' && { isSucceeded: true } }
  const order = { reason, deadlineMs, lingerMs: null, ...given, ...moved }
  const before = underWay.get(handle)
  if (before) {
    before.hurry(order)
    return before.done
  }
  const retirement = new Retirement(handle, order, killTimeoutMs, { record, features }, after)
  underWay.set(handle, retirement)
  return retirement.done
}

class Retirement {
  /** Ms, by clock.js, as all times here. */
  #deadline = Infinity
  /** Deadline after which a missing account is taken for lost, of a worker that is heard. */
  #until = Infinity
  /** The same, of a worker that has not been heard since its drain timeout. */
  #silentUntil = Infinity

  /**
   * @param {WorkerHandle} handle @param {Order} order @param {number} killTimeoutMs
   * @param {{ record: Recording, features: Asked }} deps @param {Promise<unknown>} [after]
   */
  constructor (handle, order, killTimeoutMs, { record, features }, after) {
    this.handle = handle
    this.killTimeoutMs = killTimeoutMs
    this.features = features
    this.done = this.#run(order, record, after)
  }

  /** @param {Order} order */
  hurry (order) {
    if (this.handle.account || this.handle.isGone) return
    this.#arm(order)
    this.handle.emit('hurried')
    this.handle.send('drain', order)
  }

  /** @param {Order} order @param {Recording} record @param {Promise<unknown>} [after] @returns {Promise<Retired>} */
  async #run (order, record, after) {
    const { handle, features } = this
    const began = now()
    if (handle.isGone) return nothingLeft('crashed') // its crash is in the journal, with what it had in flight
    if (handle.state !== 'draining') handle.become('draining')
    // The worker has done nothing yet
    if (!handle.hasEntered && !handle.isAdopted) {
      return kill(handle, 'unstarted', features).then(() => nothingLeft('retired'))
    }
    const { slot, pid, connections, latest: { inFlight } } = handle
    record('worker.drain', { slot, pid, reason: order.reason, connections, inFlight })
    if (!after) this.#arm(order)
    const drained = this.#drained()
    if (after) after.then(() => this.hurry(order), () => {})
    else handle.send('drain', order)
    const account = await drained
    const drainMs = now() - began
    this.handle.drainsUntil = null // what is waited for from here on is its end
    await (account.lost ? kill(handle, 'no-account', features) : terminate(handle, this.killTimeoutMs, features))
    const outcome = account.lost ? await handle.outcome : null
    if (outcome) Object.assign(account, rescuedAccount(account.connections, account.inFlight, outcome))
    const ended = handle.state === 'crashed' ? 'crashed' : handle.process.killedFor === null ? 'retired' : 'killed'
    return { account: { ...account, ended }, drainMs }
  }

  /** @returns {Promise<Omit<FinalAccount, 'ended'>>} */
  async #drained () {
    const next = Math.min(...[this.#silentUntil, this.#until].filter(at => at > now()))
    const { event, value } = await this.handle.next(['emptied', 'exit', 'hurried'],
      next === Infinity ? 0 : next - now())
    if (event === 'timeout') await new Promise(resolve => setImmediate(resolve)) // what it has said by now is read
    if (event === 'hurried' || (event === 'timeout' && (now() < this.#end || this.handle.account))) {
      return this.#drained()
    }
    return event === 'emptied'
      ? { ...value, lost: false }
      : { ...lostAccount(this.handle.connections, this.handle.latest.inFlight), lost: true }
  }

  /** The same, by what is known now. */
  get #end () {
    return this.handle.heardAt > this.#deadline ? this.#until : this.#silentUntil
  }

  /**
   * The worker is told how long it has; the primary waits a little longer for its account, never longer than before.
   * @param {Order} order
   */
  #arm ({ deadlineMs, handoff }) {
    const deadline = this.#deadline = this.handle.drainsUntil = Math.min(this.#deadline, now() + deadlineMs)
    this.#until = Math.min(this.#until, now() + deadlineMs + (handoff ? REPLAY_MS : 0) + ANSWER_MS)
    this.#silentUntil = deadline + Math.max(this.killTimeoutMs, SILENT_MS)
  }
}

/** @param {WorkerHandle} handle @param {number} killTimeoutMs @param {Asked} features */
async function terminate (handle, killTimeoutMs, features) {
  const gone = handle.next(['exit'], killTimeoutMs)
  handle.process.kill('SIGTERM')
  if ((await gone).event !== 'exit') await kill(handle, 'kill-timeout', features)
}

/** @param {WorkerHandle} handle @param {import('../../core/kills').KilledFor} why @param {Asked} features */
async function kill (handle, why, features) {
  if (handle.isGone) return
  if (handle.state !== 'draining') handle.become('draining')
  const told = features.beforeKill(handle).catch(() => {})
  await Promise.race([told, handle.next(['exit'], BEFORE_KILL_MS)])
  const gone = handle.next(['exit'], REAP_MS)
  handle.process.kill('SIGKILL', handle.givenUp === null ? why : 'not-ready')
  await gone
}

module.exports = { leave, replayAfter, kill }
