'use strict'

/** In the primary: has new code tried in a few workers, and decides by the comparison whether the others run it too. */

const { addUp } = require('../../core/fields')
const { RecycleError, badUsage } = require('../../core/errors')
const { formatTime } = require('../../core/units')
const { Bake } = require('./bake')
const { sayWhy } = require('./sentence')
const { mostOf } = require('../../core/limit')
const { readAs, types } = require('../../core/option-types')
const { kinds } = require('./kinds')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Reload } from './feature' */

/**
 * A trial in status(). `at`, `why`: of its end; `isReplaced`: the code on the disk is what was taken back.
 *
 * @typedef {Omit<ReturnType<Bake['describe']>, 'state'> & { state: Bake['state'] | 'promoted' | 'rejected',
 *   at?: number, why?: string, isReplaced?: boolean }} Described
 */

class Canary {
  /** The reload under way. @type {{ bake: Bake, outcome: Promise<string> } | null} */
  #current = null
  /** Of the last reload that was tried. @type {Described | null} */
  #last = null
  #services

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
    this.#services = new Services(kernel.now)
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.on('ready', () => {
      this.#services.begin(handle)
      if (this.#bake?.isCounting) this.#bake.connect(handle)
    })
    handle.hear({ observe: ({ counts }) => this.#bake?.observed.hear(handle, counts) })
    handle.once('exit', () => this.#services.end(handle))
  }

  /** @param {WorkerHandle} handle @param {boolean} isGone */
  crashed (handle, isGone) {
    this.#services.failed(handle, isGone)
    this.#bake?.observed.crashed(handle, isGone)
  }

  /**
   * @param {Reload} how
   * @returns {Promise<string | undefined> | null} null: all at once; else what came of it, in a sentence
   */
  reload (how) {
    if (how.promote || how.abort) {
      const others = Object.entries(how).filter(([name, value]) =>
        !['promote', how.promote ? '' : 'abort'].includes(name) && value !== undefined && value !== false)
      if (others.length > 0) {
        throw badUsage(`--${how.promote ? 'promote' : 'abort'} of a reload stands alone: without --${others[0][0]}`)
      }
      return this.#decide(how.promote ? 'go' : 'back')
    }
    if (this.#current?.bake.isDecided) return this.#after(this.#current.outcome, how)
    if (this.#current) {
      throw new RecycleError('RECYCLE_ON_TRIAL',
        { left: formatTime(this.#current.bake.leftMs ?? this.#current.bake.terms.bakeMs) })
    }
    const terms = termsOf(how, this.kernel.options, this.kernel.fleet.desired)
    if (terms === null) {
      this.#last = null // of a reload that is not the latest any more
      return null
    }
    const bake = new Bake(this.kernel, this.#services, terms)
    const outcome = this.#run(bake).finally(() => {
      this.#current = null
      for (const handle of this.#services.workers) handle.send('observe', { thresholds: null, isOver: true })
    })
    this.#current = { bake, outcome }
    return outcome
  }

  get #bake () {
    return this.#current?.bake
  }

  /** The code may be newer than what has been compared. @param {Promise<unknown>} running @param {Reload} how */
  async #after (running, how) {
    await running.catch(() => {})
    return this.kernel.commands.reload(how)
  }

  /** Plain data for status(). @returns {Described | null} */
  describe () {
    return this.#bake?.describe() ?? this.#last
  }

  /** @param {Bake} bake @returns {Promise<string>} */
  async #run (bake) {
    const { reloading } = this.kernel
    await bake.wait()
    const { generation, before } = await reloading.try(bake.terms.workers)
      .catch(error => this.#failed(error, bake.describe()))
    const verdict = await bake.run({ generation, before }).catch(async error => {
      if (!this.kernel.tenure.isOver) await reloading.reject(`recycle itself has failed: ${error.message}`)
      throw error
    })
    const why = sayWhy(verdict)
    const isGood = verdict.isGood ??
      (verdict.verdict === 'good' || (verdict.verdict === 'undecided' && bake.terms.undecided === 'go'))
    const { sentence, ...judged } = verdict
    const { t: at } = this.kernel.record('canary.verdict',
      { generation, before, bakeMs: bake.terms.bakeMs, ...judged, isGood, why, ...bake.inputs })
    this.#last = {
      ...bake.describe(), state: isGood ? 'promoted' : 'rejected', leftMs: null, at, why, isReplaced: false
    }
    bake.state = isGood ? 'promoting' : 'leaving'
    if (isGood) {
      await reloading.promote().catch(error => this.#failed(error, this.#last))
      return why
    }
    const { isReplaced } = await reloading.reject(why)
    this.#last = { ...this.#last, isReplaced }
    throw new RecycleError(verdict.verdict === 'undecided' ? 'RECYCLE_UNDECIDED' : 'RECYCLE_REJECTED', { why })
  }

  /** @param {RecycleError} error thrown again @param {Described | null} about the trial @returns {never} */
  #failed (error, about) {
    const { code, details } = error
    if (code === 'RECYCLE_REJECTED') this.#last = /** @type {Described} */ ({ ...about, ...details, state: 'rejected' })
    throw error
  }

  /** @param {'go' | 'back'} what @returns {Promise<string>} */
  async #decide (what) {
    if (this.#current === null || this.#current.bake.isDecided) {
      throw new RecycleError('RECYCLE_NO_TRIAL', { option: what === 'go' ? '--promote' : '--abort' })
    }
    const { bake, outcome } = this.#current
    bake.decide(what)
    try {
      return await outcome
    } catch (error) {
      if (what === 'back' && error instanceof RecycleError && error.code === 'RECYCLE_REJECTED') {
        return error.details.why
      }
      throw error
    }
  }
}

/** How new code is tried: from the arguments of a reload, and the fleet's options. */

const KINDS = kinds(types)

/**
 * @typedef {object} Terms
 * @property {number} workers of the new code, at least 1
 * @property {number} bakeMs @property {'go' | 'back'} undecided
 */

/**
 * @param {import('./feature').Reload} how @param {import('../../options').ResolvedOptions} options
 * @param {number} size how many workers the fleet is to have
 * @returns {Terms | null} null: the reload replaces all at once @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function termsOf (how, options, size) {
  const { canary = options.canary, bake = options.bakeMs, undecided = options.undecided } = read(how)
  const most = mostOf(canary, size)
  if (most === null || most === 0) {
    for (const name of ['bake', 'undecided']) {
      if (name in how) throw badUsage(`--${name} of a reload needs --canary`)
    }
    return null
  }
  return { workers: Math.max(1, Math.round(most)), bakeMs: bake, undecided }
}

/** @param {Record<string, unknown>} how */
function read (how) {
  return Object.fromEntries(Object.entries(KINDS).filter(([name]) => how[name] !== undefined)
    .map(([name, kind]) => [name, readAs(kind, how[name], `--${name}`)]))
}

/** How long the workers of each generation have served, and how they have failed, since the first of it served. */

/**
 * @typedef {object} Service of all workers of a code together; JSON
 * @property {number} ms in service
 * @property {number} crashes
 * @property {number} exceptions uncaught ones
 */

class Services {
  /** Workers that serve. @type {Set<WorkerHandle>} */
  workers = new Set()
  /** By generation; the time of those that are gone alone. @type {Map<number, Service>} */
  #of = new Map()

  /** @param {() => number} now ms, a clock that the handles go by */
  constructor (now) {
    this.now = now
  }

  /** @param {WorkerHandle} handle serves from here on */
  begin (handle) {
    if (!this.#of.has(handle.generation)) this.#forget()
    this.workers.add(handle)
    this.#get(handle.generation)
  }

  /** @param {WorkerHandle} handle is gone */
  end (handle) {
    if (this.workers.delete(handle)) this.#get(handle.generation).ms += this.#msOf(handle)
  }

  /** @param {WorkerHandle} handle @param {boolean} isGone else its app has not caught an exception */
  failed (handle, isGone) {
    this.#get(handle.generation)[isGone ? 'crashes' : 'exceptions']++
  }

  /** @param {(generation: number) => boolean} isOf @returns {Service} */
  sum (isOf) {
    const sum = { ms: 0, crashes: 0, exceptions: 0 }
    for (const [generation, service] of this.#of) if (isOf(generation)) addUp(sum, service)
    for (const handle of this.workers) if (isOf(handle.generation)) sum.ms += this.#msOf(handle)
    return sum
  }

  /** @param {number} generation @returns {Service} */
  #get (generation) {
    const known = this.#of.get(generation) ?? { ms: 0, crashes: 0, exceptions: 0 }
    this.#of.set(generation, known)
    return known
  }

  /** @param {WorkerHandle} handle */
  #msOf ({ upSince }) {
    return this.now() - Number(upSince)
  }

  /** Generations of which no worker is left. */
  #forget () {
    const living = new Set([...this.workers].map(({ generation }) => generation))
    for (const generation of this.#of.keys()) if (!living.has(generation)) this.#of.delete(generation)
  }
}

module.exports = { Canary, termsOf, Services }
