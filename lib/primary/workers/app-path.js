'use strict'

/**
 * The app's file by the name that the fleet was started with, which a deploy may lead elsewhere: a symbolic link that
 * is switched (current -> releases/2), in the name or in the folder that it is relative to. It is looked up once for
 * each generation, whose workers run the same file as long as that is there.
 */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { fileId } = require('../../core/file-id')

const PRESERVES = '--preserve-symlinks-main'
/** At the start: it can be gone later. */
const START_FOLDER = folderAsNamed(process.env.PWD)

/**
 * @typedef {object} AppFile
 * @property {string} real without symbolic links
 * @property {string} exec what Node.js is to run
 * @property {string | undefined} cwd of the workers; undefined: this process's
 *
 * @typedef {object} Releases
 * @property {AppFile | null} settled @property {AppFile | null} previous @property {string | null} undone
 * @property {string | null} rejected
 */

const MOST = 8 // generations: that of a trial, the fleet's, and those whose last workers leave

class AppPath {
  /** By generation, in their order. @type {Map<number, AppFile>} */
  #found = new Map()
  /** The file that all workers run, or did before the reload under way. @type {AppFile | null} */
  #settled = null
  /** The file that workers ran before that, where it was another file. @type {AppFile | null} */
  #previous = null
  /** The file of the release that was rolled back, until all workers run it anew. @type {string | null} */
  #undone = null
  /** The file of the release that was rejected, likewise. @type {string | null} */
  #rejected = null
  /**
   * The rollback under way: the generation and the file that all workers are to run, and what was undone before it.
   * @type {{ generation: number, file: AppFile, undone: string | null } | null}
   */
  #rollback = null
  /** The files that the primary before has run. @type {Releases | null} */
  #inherited = null

  /**
   * @param {string} given as Node.js takes it @param {readonly string[]} flags of the workers
   * @param {string} [folder] that it is relative to, by the name that the shell knows it by
   */
  constructor (given, flags, folder = folderAsNamed(process.env.PWD)) {
    this.given = given
    this.folder = folder
    this.preserves = [...flags, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].includes(PRESERVES)
    this.startedIn = process.cwd()
  }

  /** The file that the fleet runs, not that of a trial; before the first worker, as the name leads now. */
  get current () {
    return this.#settled?.real ?? realFile(this.named)
  }

  get named () {
    return path.resolve(this.folder, this.given)
  }

  /** @param {number} generation @returns {string | null} what its latest worker runs; null: it has had none */
  known (generation) {
    return this.#found.get(generation)?.real ?? null
  }

  /** @param {number} generation @returns {AppFile} @throws {Error} there is none */
  of (generation) {
    const found = this.#found.get(generation)
    if (found && fs.existsSync(found.real)) return found
    const { named } = this
    const real = realFile(named)
    const cwd = fs.realpathSync(this.folder)
    const exec = this.preserves && isFile(named) ? named : real
    return this.set(generation, { real, exec, cwd: cwd === this.startedIn ? undefined : cwd })
  }

  /** @param {number} generation @param {AppFile} file that it is to run, wherever the name leads @returns {AppFile} */
  set (generation, file) {
    if (this.#settled === null || this.#found.get(generation) === this.#settled) this.#settled = file // that is gone
    this.#found.set(generation, file)
    for (const old of [...this.#found.keys()].sort((a, b) => a - b).slice(0, -MOST)) this.#found.delete(old)
    return file
  }

  /** All workers run this one now. @param {number} generation */
  settle (generation) {
    if (this.#rollback?.generation === generation) this.#rollback = null // it is over
    const settled = this.#found.get(generation)
    if (settled === undefined || settled.real === this.#settled?.real) return
    this.#previous = this.#settled
    this.#settled = settled
    if (settled.real === this.#undone) this.#undone = null
    if (settled.real === this.#rejected) this.#rejected = null
  }

  /**
   * @param {number} generation that the fleet runs
   * @returns {AppFile | string} of the release that it has run before; else why there is none
   */
  before (generation) {
    const goesBack = this.#rollback?.generation === generation
    if (!goesBack) this.settle(generation)
    const previous = this.#before
    if (previous === null) return `the fleet has run ${this.known(generation) ?? 'no other file'} since it was started`
    if (goesBack || previous.real === this.#undone) {
      return `the fleet has gone back from ${this.#undone} already; recycle reload runs what the link leads to, ` +
        `${this.#leadsTo ?? 'which is nothing'}`
    }
    return fs.existsSync(previous.real)
      ? previous
      : `${previous.real}, which the fleet has run before, is there no more`
  }

  /** The file that the fleet ran before this one, maybe under another primary. */
  get #before () {
    const { settled = null, previous = null } = this.#inherited ?? {}
    return this.#previous ?? (settled?.real === this.#settled?.real ? previous : settled)
  }

  /**
   * For the next primary, which may have been started in another folder, and goes on with a rollback under way.
   * @returns {Releases}
   */
  get releases () {
    const files = this.#rollback ? [this.#rollback.file, this.#settled] : [this.#settled, this.#before]
    const [settled, previous] = files
      .map(file => file && { ...file, cwd: file.cwd ?? this.startedIn })
    return { settled, previous, undone: this.#undone, rejected: this.#rejected }
  }

  /** @param {Releases} releases of the primary before */
  inherit (releases) {
    this.#inherited = releases
    this.#undone ??= releases.undone
    this.#rejected ??= releases.rejected ?? null // an earlier version's primary does not tell it
  }

  /**
   * The primary before has died: that is no reason to run a release that was rolled back, or rejected.
   * @param {number} generation of the workers to come
   * @returns {string | null} as back(); null: the workers run it
   */
  goOn (generation) {
    const settled = this.#inherited?.settled
    const named = this.#leadsTo
    if (!settled || named === null || named === settled.real) return null // the latter: code is changed in place
    if (![this.#undone, this.#rejected].includes(named) || !fs.existsSync(settled.real)) return null
    this.set(generation, settled)
    return named
  }

  /**
   * The release that all workers run is rolled back.
   * @param {number} generation of the workers to come @param {AppFile} file that they are to run
   * @returns {string | null} the file to which the name leads all the same
   */
  back (generation, file) {
    this.#rollback = { generation, file, undone: this.#undone }
    this.#undone = this.#settled?.real ?? null
    this.set(generation, file)
    return this.#leadsTo === file.real ? null : this.#leadsTo
  }

  /** Workers of this generation do not start: a rollback to it has undone nothing. @param {number} generation */
  notBack (generation) {
    if (this.#rollback?.generation !== generation) return // a later one is under way
    this.#undone = this.#rollback.undone
    this.#rollback = null
  }

  /**
   * The file of a release is there, and is not the later one's; before this has a worker, not what the name leads to.
   * @param {number} generation @param {number} later
   */
  differs (generation, later) {
    const file = this.known(generation)
    return file !== null && fs.existsSync(file) && file !== (this.known(later) ?? this.#leadsTo)
  }

  /** The file to which the name leads now; null: nothing. */
  get #leadsTo () {
    return attempt(() => realFile(this.named), null)
  }

  /** The code of this generation is rejected, and no worker runs it any more. @param {number} generation */
  forget (generation) {
    this.#rejected = this.known(generation) ?? this.#rejected // where none of its workers could be started
    this.#found.delete(generation)
  }
}

/** As require.resolve(), which remembers where a link led before. @param {string} named absolute @returns {string} */
function realFile (named) {
  const at = fs.existsSync(named)
    ? fs.realpathSync(named)
    : path.join(fs.realpathSync(path.dirname(named)), path.basename(named))
  return isFile(at) ? at : require.resolve(at)
}

/**
 * @param {string} named absolute; a folder, too, or without its ending @returns {string} its file, with the links in it
 * @throws {Error} there is none
 */
function fileAsNamed (named) {
  if (isFile(named)) return named
  const folder = fs.existsSync(named) ? named : path.dirname(named)
  return path.join(folder, path.relative(fs.realpathSync(folder), realFile(named)))
}

/** @param {string} file */
const isFile = file => fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true

/**
 * The working directory by the name that the shell knows it by: the kernel's has no symbolic links in it.
 * @param {string | undefined} named
 */
function folderAsNamed (named) {
  const folder = process.cwd()
  if (!named || !path.isAbsolute(named)) return folder
  return attempt(() => fileId(fs.statSync(named)) === fileId(fs.statSync(folder)), false) ? named : folder
}

module.exports = { AppPath, fileAsNamed, folderAsNamed, START_FOLDER }
