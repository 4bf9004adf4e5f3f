'use strict'

/** @import { Entry } from './entry' */

/** The connections that another primary lends, and has until it says `keep`: rule 5 of ledger.js. */

class Loans {
  /** By the lender's number. @type {Map<number, Entry>} */
  #entries = new Map()

  /**
   * @param {import('../succession/remote-workers').RemoteSender} lender @param {object} ledger what it does then
   * @param {(entry: Entry, receiver: import('../workers/worker-handle').WorkerHandle) => void} ledger.keep
   * @param {(entry: Entry) => void} ledger.close
   */
  constructor (lender, ledger) {
    this.lender = lender
    this.ledger = ledger
    lender.hear({
      keep: ({ id }) => this.#own(this.#entries.get(id)),
      drop: ({ id }) => this.#drop(this.#entries.get(id))
    })
    lender.on('exit', () => { for (const entry of this.#entries.values()) this.#own(entry) })
  }

  /** @param {Entry} entry */
  add (entry) {
    this.#entries.set(entry.offerId, entry)
  }

  /** @param {Entry} entry */
  delete (entry) {
    this.#entries.delete(entry.offerId)
  }

  /** A receiver has adopted the connection: the lender decides. @param {Entry} entry */
  ask (entry) {
    if (entry.deadline) clearTimeout(entry.deadline)
    entry.isAdopted = true
    if (entry.claim === 'asked') return
    entry.claim = 'asked'
    this.lender.send('moved', { id: entry.offerId })
  }

  /** The lender has closed its copy. @param {Entry} [entry] */
  #own (entry) {
    if (!entry) return
    entry.claim = 'given'
    if (entry.isAdopted && entry.receiver) this.ledger.keep(entry, entry.receiver)
  }

  /** The lender has it again. @param {Entry} [entry] */
  #drop (entry) {
    if (!entry) return
    if (entry.isAdopted && entry.receiver) entry.receiver.send('drop', { id: entry.id })
    this.ledger.close(entry) // a receiver that answers later is told then
  }
}

module.exports = { Loans }
