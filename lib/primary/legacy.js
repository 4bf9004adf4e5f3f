'use strict'

/**
 * Parts of this primary leave a text each to the next one, by name. A primary that takes over is sent these
 * (lib/primary/succession). This one may also die without a word: so its workers have what it has counted, and have it
 * before a count is given out. Else the next one would go on from less, and Prometheus would take that for a counter
 * that has begun anew, and add all of it.
 */

const { once } = require('node:events')
const { deflateSync, inflateSync } = require('node:zlib')
const { LONGEST_KEPT } = require('../tables/message')
const { Part } = require('./part')

/**
 * @typedef {object} Heir
 * @property {() => Promise<string | null>} bequeath called as the next primary begins to lead, and when these workers
 *   are gone; null: nothing
 * @property {(text: string) => void} inherit takes it, in place of what came before
 * @property {boolean} [isKept] the workers have it, too
 *
 * @typedef {{ [name: string]: number | string | null | Counts }} Counts
 */

/** @typedef {{ survivors: import('./survivors').Survivors }} More */

/** @extends {Part<More>} */
class Legacy extends Part {
  /** @type {Map<string, Heir>} */
  #heirs = new Map()
  /** How often workers were told. */
  #tellings = { number: 0 }
  /** @type {NodeJS.Timeout | undefined} */
  #soon
  /** @type {Promise<unknown> | null} */
  #asking = null
  #begun = once(this, 'begun')

  /** @param {import('./part').Deps & More} deps */
  constructor (deps) {
    super(deps)
    this.count('tellings', this.#tellings)
    for (const [name, heir] of deps.features.heirs) this.add(name, heir)
  }

  /** @param {string} name @param {Heir} heir */
  add (name, heir) {
    this.#heirs.set(name, heir)
  }

  /** The next primary counts on from these. @param {string} name @param {Counts} counts */
  count (name, counts) {
    let inherited = /** @type {Counts} */ ({})
    this.add(name, {
      isKept: true,
      bequeath: async () => JSON.stringify(counts),
      inherit (text) {
        const before = inherited
        inherited = JSON.parse(text)
        goOn(counts, inherited, before)
      }
    })
  }

  /**
   * @param {{ isKeptAlone?: boolean }} [of] that alone which the workers have, too
   * @returns {Promise<{ feature: string, text: string }[]>} what the next primary is to have
   */
  async bequeath ({ isKeptAlone = false } = {}) {
    const heirs = [...this.#heirs].filter(([, { isKept = false }]) => isKept || !isKeptAlone)
    const all = await Promise.all(heirs.map(async ([feature, heir]) => ({ feature, text: await heir.bequeath() })))
    return all.flatMap(({ feature, text }) => text === null ? [] : { feature, text })
  }

  /** @param {{ feature: string, text: string }} legacy of the primary before */
  inherit ({ feature, text }) {
    this.#heirs.get(feature)?.inherit(text)
  }

  /** @param {string} text that a worker of the primary before has been told */
  takeFrom (text) {
    for (const one of JSON.parse(inflateSync(Buffer.from(text, 'base64')).toString())) this.inherit(one)
  }

  /** Of a thousand workers, that begin one after the other, each is told once a second at most. */
  tellSoon () {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.tasks.run('tell', () => this.tell())
    }, this.fleet.all().length).unref()
  }

  /** Tells the workers what they are to tell the next primary, should this one die. */
  async tell () {
    if (!this.survivors.areLeft || !this.tenure.hasBegun) return
    this.#tellings.number++
    const { number } = this.#tellings
    const all = pack(await this.bequeath({ isKeptAlone: true }))
    const text = all.length > LONGEST_KEPT ? pack([]) : all // then counts begin anew
    if (this.tenure.isOver) return
    for (const handle of this.fleet.all()) handle.send('legacy', { number, text })
  }

  /** A primary that has died has left nothing more. */
  begin () {
    this.emit('begun')
  }

  /** Resolves when what the primary before has counted up to now is here; or after half a second, where it runs. */
  async ask () {
    this.#asking ??= Promise.resolve(this.takeover ? this.takeover.askLegacy() : this.#begun)
      .finally(() => { this.#asking = null })
    await this.#asking
  }
}

/** @param {object[]} legacies */
const pack = legacies => deflateSync(JSON.stringify(legacies)).toString('base64')

/**
 * @param {Counts} counts are increased by what others have counted since `before`; text is theirs where it is not own
 * @param {Counts} now @param {Counts} before
 */
function goOn (counts, now, before) {
  for (const [name, value] of Object.entries(now)) {
    if (typeof value === 'number') counts[name] = Number(counts[name] ?? 0) + value - Number(before[name] ?? 0)
    else if (value === null || typeof value === 'string') {
      if (counts[name] === undefined || counts[name] === before[name]) counts[name] = value
    } else goOn(/** @type {Counts} */ (counts[name] ??= {}), value, /** @type {Counts} */ (before[name] ?? {}))
  }
}

module.exports = { Legacy }
