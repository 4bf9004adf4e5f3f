'use strict'

/**
 * The channel to a worker, whose app shares the other end and may send what it likes: each message is checked at the
 * door.
 */

const { FROM_WORKER, flawOf, flawOfAnswer } = require('../../tables/message')
const { now } = require('../clock')
const { Channel } = require('./channel')
const { howItLeft } = require('./process')
const { version } = require('./worker-code')
/** @import { Handle } from '../../core/internals' */
/** @import { Answers, Does, FromPrimary, FromWorker, Orders } from '../../messages' */
/** @import { Descriptor } from '../../native/descriptor' */

/**
 * @typedef {Pick<FromWorker['answer'], 'moved' | 'isSkipped'> & { why: string, isHeard?: boolean }} NotDone `why` a
 *   call was not done; `isHeard`: the worker has answered
 */

/** @template {keyof Answers} Verb @typedef {Answers[Verb] & { why: null, isHeard: true }} Done */
/** @template {keyof Answers} Verb @typedef {Done<Verb> | NotDone} Answer to a call */

/**
 * Emits `foreign`, `flaw`, once, and `failed` as WorkerHandle's EVENTS says.
 *
 * @extends {Channel<FromWorker, FromPrimary>}
 */
class WorkerChannel extends Channel {
  /** When anything was last heard that its event loop has sent: ms, by clock.js. */
  heardAt = now()
  /** The account that the worker gave when it had drained. @type {import('../../core/account').Account | null} */
  account = null
  #isFlawed = false
  #lastId = 0
  /**
   * The verb of each call that has no answer yet, and the function that takes this, by its id.
   * @type {Map<number, { verb: string, heard: (fields: Omit<FromWorker['answer'], 'id'>) => void }>}
   */
  #calls = new Map()

  /** @param {import('./process').WorkerProcess} process @param {object} events all that this emits, by name */
  constructor (process, events) {
    super(process, FROM_WORKER, events)
    process.on('flaw', (type, flaw) => this.refuse({ type }, flaw))
    this.hear({ answer: answer => this.#answered(answer) })
  }

  /**
   * As nextEvent(), and at once where it has been.
   * @override @type {Channel['next']}
   */
  next (events, timeoutMs, listen) {
    if (this.account && events.includes('emptied')) return Promise.resolve({ event: 'emptied', value: this.account })
    return super.next(events, timeoutMs, listen)
  }

  /**
   * Has the worker do something, which it answers once.
   * @template {keyof Answers} Verb
   * @param {Verb} verb @param {Does[Verb]} fields @param {number} timeoutMs
   * @param {Handle | Descriptor} [socket] a TCP or pipe handle @returns {Promise<Answer<Verb>>}
   */
  async call (verb, fields, timeoutMs, socket) {
    const id = ++this.#lastId
    const answer = this.next(['exit', 'disconnect'], timeoutMs, heard => this.#calls.set(id, { verb, heard }))
    this.send('do', { id, verb, ...fields }, socket,
      error => { if (error && socket) this.#answered({ id, why: `its socket could not be sent: ${error.message}` }) })
    const { event, value } = await answer
    this.#calls.delete(id)
    if (event === 'heard') return { ...value, isHeard: true }
    if (event === 'timeout') return { why: `it did not answer within ${timeoutMs} ms` }
    const left = await this.afterDown()
    return { why: left ? `its worker ${howItLeft(left)}` : 'the app has cut the channel' }
  }

  /**
   * Has the worker do something, which it does not answer.
   * @template {keyof Orders} Verb
   * @param {Verb} verb @param {Orders[Verb]} [fields] @param {Handle | Descriptor} [socket]
   * @param {(error: Error | null) => void} [sent]
   */
  order (verb, fields, socket, sent) {
    this.send('do', { verb, ...fields }, socket, sent)
  }

  /**
   * Answers a call of the other end's, also where the handle has been closed by the time at which Node sends it.
   * @param {FromPrimary['answer']} answer @param {Handle | Descriptor} [socket]
   */
  answer (answer, socket) {
    this.send('answer', answer, socket, error => { if (error && socket) this.send('answer', answer) })
  }

  /** @param {FromWorker['answer']} answer */
  #answered ({ id, ...fields }) {
    const call = this.#calls.get(id)
    if (!call) return
    const flaw = flawOfAnswer(call.verb, fields)
    if (flaw === null) call.heard(fields)
    else this.refuse({ type: 'answer' }, flaw)
  }

  /** The app has sent it. @override @param {Handle} socket */
  beginBatching (socket) {
    socket.close()
  }

  /** @override @type {(...received: Parameters<Channel['receive']>) => unknown} */
  receive (message, socket, allowed) {
    const { type } = message
    if (type === 'hello' && typeof message.version === 'string' && message.version !== version) {
      return this.emit('foreign', message.version.slice(0, 40))
    }
    const flaw = allowed?.has(type) === false ? 'it does not belong into a batch' : flawOf(FROM_WORKER, message, socket)
    if (flaw !== null) return this.refuse(message, flaw, socket)
    if (!allowed && !FROM_WORKER[type].isAside) this.heardAt = now() // in a batch: as that has come
    try {
      this.handlers.call(type, message, socket)
    } catch (error) { // one worker must not end the fleet
      const { syscall, stack } = /** @type {NodeJS.ErrnoException} */ (error)
      // The primary lacks descriptors, say
      if (syscall) this.emit('failed', { type, error })
      else this.refuse(message, `the primary failed at it: ${stack?.split('\n', 2).join('')}`)
    }
  }

  /**
   * The app has sent this, or has changed our end of the channel: from here on this worker's figures say nothing.
   * @param {{ type: unknown }} message @param {string} flaw
   * @param {{ close?: () => void, destroy?: () => void }} [socket] to be closed
   */
  refuse ({ type }, flaw, socket) {
    if (socket) (socket.close ?? socket.destroy)?.call(socket)
    if (this.#isFlawed) return
    this.#isFlawed = true
    this.emit('flaw', { type: String(type).slice(0, 40), flaw: flaw.slice(0, 300) })
  }
}

module.exports = { WorkerChannel }
