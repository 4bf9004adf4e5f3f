'use strict'

/**
 * Adopts the workers that live on after the primary before this one has died (lib/worker/orphan.js). Each is a worker
 * of this fleet from then on, in its slot, and gives the copies of its connections anew. It is replaced at once, by the
 * ordinary recycle, as it runs code that another primary has started; one that was leaving goes on with that.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const { orphansAmong, familyOf } = require('../../core/orphan')
const { loadAddon } = require('../../native/addon')
const { isStill, pathsOfUnixSockets, startOf } = require('../../native/proc')
const { now } = require('../clock')
const { Part } = require('../part')
const { version } = require('../workers/worker-code')
const { CLOSED, OrphanProcess, SILENT } = require('./orphan-process')

const AGAIN_MS = 1000
const AT_ONCE_MS = 250 // between two answers of those whose event loops turn
const UNTIL_MS = 60_000 // a worker whose event loop is blocked notices late that its primary has died

/**
 * @typedef {{ recycler: import('../recycling/recycler').Recycler, survivors: import('../survivors').Survivors,
 *   legacy: import('../legacy').Legacy }} More
 * @typedef {{ workers: number | null, isPinned: boolean }} Size
 */

/**
 * Emits `looked` when `isWaiting` may have changed.
 * @extends {Part<More>}
 */
class Adoption extends Part {
  /** Pids that have been looked at. @type {Set<number>} */
  #known = new Set()
  /** By their pids; resolves to whether it has not answered. @type {Map<number, Promise<boolean>>} */
  #asked = new Map()
  /**
   * Why they are not adopted, of which a warning has told: by their pids.
   * @type {Map<number, { why: string, startedAt: ReturnType<typeof startOf> }>}
   */
  #left = new Map()
  /** That have answered and are to be adopted, once this one has begun to. @type {OrphanProcess[]} */
  #found = []
  #hasBegun = false
  /** There may be workers of the primary before that are not adopted yet. */
  isWaiting
  #addon = loadAddon().addon
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /**
   * The gap in supervision; null: there was none.
   * @type {{ oldPid: number, since: number, gapMs: number, workers: number } | null}
   */
  latest = null
  /** Of the primary before; null: as its options say. @type {Size} */
  #size = { workers: null, isPinned: false }

  /** @param {import('../part').Deps & More} given */
  constructor (given) {
    super(given)
    const { fleet, options, legacy, spawner: { appPath }, takeover } = given
    this.isWaiting = takeover !== null
    legacy.add('size', {
      isKept: true,
      bequeath: async () => JSON.stringify(
        { workers: fleet.desired === options.workers ? null : fleet.desired, isPinned: fleet.isPinned }
      ),
      inherit: text => { this.#size = JSON.parse(text) }
    })
    legacy.add('releases', {
      isKept: true,
      bequeath: async () => {
        const { trial, isOnTrial } = fleet.rollout
        const onTrial = isOnTrial && trial ? appPath.known(trial.generation) : null
        return JSON.stringify({ ...appPath.releases, ...onTrial && { rejected: onTrial } }) // without a verdict
      },
      inherit: text => appPath.inherit(JSON.parse(text))
    })
  }

  /**
   * Looks for orphans, before anything is bound: where none has answered yet, the addresses are those of one that is
   * blocked, and are waited for. As soon as no more answer, one that is blocked is left to be adopted when it does.
   */
  async find () {
    const until = now() + this.options.readyTimeoutMs
    for (let before = 0; await this.#look() && now() < until; before = this.#found.length) {
      if (before > 0 && this.#found.length === before) return
    }
  }

  /** @returns {Promise<boolean>} some orphan has not answered, or not at once */
  async #look () {
    const addon = this.#addon
    const { key } = this.survivors
    if (key === null || addon === null) return this.#looked(false)
    const family = familyOf(Number(process.geteuid?.()), key)
    for (const pid of orphansAmong(pathsOfUnixSockets(), family)) {
      if (this.#known.has(pid) || this.#asked.has(pid)) continue
      this.#asked.set(pid, this.#ask(addon, family, pid).finally(() => this.#asked.delete(pid)))
    }
    if (this.#asked.size === 0) return this.#looked(false)
    const answers = Promise.all(this.#asked.values()).then(silent => silent.includes(true))
    return this.#looked(await Promise.race([answers, sleep(AT_ONCE_MS, true)]))
  }

  /** Workers that live, and are not adopted. @returns {{ orphan: number, why: string }[]} */
  get left () {
    return [...this.#left].flatMap(([orphan, { why, startedAt }]) => isStill(orphan, startedAt) ? { orphan, why } : [])
  }

  /** @param {boolean} isWaiting */
  #looked (isWaiting) {
    this.isWaiting = isWaiting
    this.emit('looked')
    return isWaiting
  }

  /**
   * @param {import('../../native/addon').Addon} addon @param {string} family @param {number} pid
   * @returns {Promise<boolean>} it has not answered
   */
  async #ask (addon, family, pid) {
    const found = await OrphanProcess.find(addon, family, pid)
    if (typeof found !== 'string') this.#left.delete(pid)
    if (found === null) return false
    const isSilent = found === SILENT
    if (!isSilent && found !== CLOSED) this.#known.add(pid)
    if (typeof found === 'string') {
      if (!this.#left.has(pid)) this.record('fleet.warning', { warning: 'orphan', orphan: pid, why: found })
      this.#left.set(pid, { why: found, startedAt: startOf(pid) })
    } else if (this.#isOurs(found.facts) && !this.tenure.isOver) {
      this.#found.push(found)
      if (this.#hasBegun) this.tasks.run('adopt', async () => this.#boot(this.#accept()))
    } else found.leave()
    return isSilent
  }

  /**
   * Another app may have the same name, in the control folder of another environment.
   * @param {OrphanProcess['facts']} facts
   */
  #isOurs (facts) {
    const { fleet, home, app } = this.survivors.identity(this.spawner.app)
    return facts.fleet === fleet && (facts.home === home || facts.app === app)
  }

  /**
   * Adopts those that are found, and that come within a minute: another primary may just have died.
   * @param {'left' | 'gone'} [how] what has become of the one that this one has taken over from
   */
  begin (how) {
    const [latest] = this.#found.flatMap(({ facts }) => facts.legacy ?? []).sort((a, b) => b.number - a.number)
    if (latest) this.#goOn(latest.text) // later, counts would jump
    this.legacy.begin()
    this.#hasBegun = true
    const hasWorkers = this.fleet.all().length > 0
    const orphans = this.#accept()
    if (!hasWorkers) this.#keepRelease()
    this.#boot(orphans)
    if (how === 'left' || this.survivors.key === null) this.#looked(false)
    if (this.survivors.key !== null) this.#lookOn()
  }

  /** @param {string} legacy of the primary that has died */
  #goOn (legacy) {
    try {
      this.legacy.takeFrom(legacy)
    } catch {} // another version's: counts begin anew
    const { workers, isPinned } = this.#size
    this.fleet.isPinned = isPinned
    if (workers !== null && workers !== this.fleet.desired) this.resize(workers, 'adopted')
  }

  #keepRelease () {
    const { appPath } = this.spawner
    const named = appPath.goOn(this.fleet.rollout.generation)
    if (named !== null) this.record('fleet.warning', { warning: 'release-kept', app: appPath.current, named })
  }

  /** @returns {OrphanProcess[]} that are to be adopted; the fleet's own workers are of a later generation */
  #accept () {
    const orphans = this.#found.splice(0).filter(orphan => this.#mayAdopt(orphan))
    if (orphans.length === 0) return []
    const since = Math.min(...orphans.map(({ facts }) => facts.since))
    const at = Date.now() // eslint-disable-line no-restricted-properties -- as the orphans' time, a time of day
    const [{ facts: { oldPid } }] = orphans
    const gapMs = Math.max(0, at - since)
    this.latest = { oldPid, since, gapMs, workers: orphans.length + (this.latest?.workers ?? 0) }
    this.record('fleet.adopted',
      { pid: process.pid, oldPid, since, gapMs, workers: orphans.map(({ facts }) => facts.pid) })
    const hasWorkers = this.fleet.all().length > 0
    this.fleet.rollout.follow(Math.max(...orphans.map(({ facts }) => facts.generation)), hasWorkers)
    return orphans
  }

  /** @param {OrphanProcess[]} orphans */
  #boot (orphans) {
    for (const orphan of orphans) {
      const slot = this.fleet.open(this.#place(orphan))
      this.tasks.run('adopt', () => this.recycler[orphan.facts.isLeaving ? 'seeOff' : 'boot'](slot))
    }
  }

  /** @param {OrphanProcess} orphan */
  #mayAdopt (orphan) {
    const { facts: { recycle, pid, sockets }, descriptors } = orphan
    descriptors.forEach((fd, i) => this.listeningSockets.adopt(sockets[i], fd))
    if (recycle === version) return true
    this.record('fleet.warning', {
      warning: 'orphan',
      orphan: pid,
      why: `it is of recycle ${recycle}: it leaves, and its listening sockets are taken over`
    })
    orphan.dismiss()
    return false
  }

  /** @param {OrphanProcess} orphan @returns {number} its slot, or a free one where another worker stays in that */
  #place (orphan) {
    const { slot, isLeaving } = orphan.facts
    const place = !isLeaving && this.fleet.slots.get(slot)?.incumbent ? this.fleet.free(1)[0] : slot
    this.survivors.bySlot.set(place, orphan)
    return place
  }

  /** @param {number} [until] by now() */
  #lookOn (until = now() + UNTIL_MS) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.tasks.run('orphans', async () => {
      if (this.tenure.isOver || now() > until) return this.#looked(false)
      try {
        await this.#look()
      } finally {
        this.#lookOn(until) // else what waits for it would for ever
      }
    }), AGAIN_MS).unref()
  }
}

module.exports = { Adoption }
