'use strict'

const path = require('node:path')
const { formatOf } = require('./log')
const { programOnDisk, whyNoRevival } = require('./succession/program')
/** @import { OrphanProcess } from './adoption/orphan-process' */

/** Workers that outlive their primary: those that this one is to leave, and those that it is to adopt. */
class Survivors {
  /** A key that tells the fleet from the others of this user; null: its workers end with it. @type {string | null} */
  key = null
  /** A folder, or --control: where its control socket is. */
  home = ''
  /** Orphans to be adopted, by their slots. @type {Map<number, OrphanProcess>} */
  bySlot = new Map()

  /** @param {import('../tables/options').Options} options */
  constructor (options) {
    this.options = options
  }

  /** Workers live on when this process has died. */
  get areLeft () {
    return this.key !== null && this.options.orphanTimeoutMs > 0
  }

  /** @param {string} app @returns what tells its workers, when they are orphans, from those of other fleets */
  identity (app) {
    return { fleet: this.key ?? '', home: this.home, app }
  }

  /**
   * @param {string} app
   * @returns {Omit<import('../worker/orphan').Settings, 'id' | 'generation'> | null} how a worker lives on when this
   *   process has died; null: it does not
   */
  settings (app) {
    const { orphanTimeoutMs: timeoutMs, journal, revive } = this.options
    if (!this.areLeft) return null
    const { node, args, cwd } = programOnDisk()
    return {
      identity: this.identity(app),
      timeoutMs,
      journal: journal && path.resolve(journal),
      log: formatOf(this.options),
      primary: process.pid,
      revive: revive && whyNoRevival() === null ? { node, args, cwd } : null
    }
  }

  /** @param {number | null} slot @returns {OrphanProcess | null} the one that is to have this slot */
  take (slot) {
    const orphan = this.bySlot.get(slot ?? -1) ?? null
    this.bySlot.delete(slot ?? -1)
    return orphan
  }
}

module.exports = { Survivors }
