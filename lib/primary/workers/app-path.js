'use strict'

/**
 * The app's file by the name that the fleet was started with, which a deploy may lead elsewhere: a symbolic link that is switched
 * (current -> releases/2), in the name or in the folder that it is relative to. It is looked up once for each generation, whose workers run the
 * same file as long as that is there.
 */

const fs = require('node:fs')
const path = require('node:path')

const PRESERVES = '--preserve-symlinks-main'
/** At the start: it can be gone later. */
const START_FOLDER = folderAsNamed(process.env.PWD)

/**
 * @typedef {object} AppFile
 * @property {number} generation
 * @property {string} real without symbolic links
 * @property {string} exec what Node.js is to run
 * @property {string | undefined} cwd of the workers; undefined: this process's
 */

class AppPath {
  /** @type {AppFile | null} */
  #found = null

  /**
   * @param {string} given as Node.js takes it
   * @param {readonly string[]} flags of the workers
   * @param {string} [folder] that it is relative to, by the name that the shell knows it by
   */
  constructor (given, flags, folder = folderAsNamed(process.env.PWD)) {
    this.given = given
    this.folder = folder
    this.preserves = [...flags, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].includes(PRESERVES)
    this.startedIn = process.cwd()
  }

  /** Of the latest worker; before the first one, as the name leads now. @returns {string} */
  get latest () {
    return this.#found?.real ?? realFile(path.resolve(this.folder, this.given))
  }

  /** @param {number} generation @returns {AppFile} @throws {Error} there is none */
  of (generation) {
    const found = this.#found
    if (found?.generation === generation && fs.existsSync(found.real)) return found
    const named = path.resolve(this.folder, this.given)
    const real = realFile(named)
    const cwd = fs.realpathSync(this.folder)
    const exec = this.preserves && isFile(named) ? named : real
    this.#found = { generation, real, exec, cwd: cwd === this.startedIn ? undefined : cwd }
    return this.#found
  }
}

/** As require.resolve(), which remembers where a link led before. @param {string} named absolute @returns {string} */
function realFile (named) {
  const at = fs.existsSync(named) ? fs.realpathSync(named) : path.join(fs.realpathSync(path.dirname(named)), path.basename(named))
  return isFile(at) ? at : require.resolve(at)
}

/** @param {string} file */
function isFile (file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true
}

/** The working directory by the name that the shell knows it by: the kernel's has no symbolic links in it. @param {string | undefined} named */
function folderAsNamed (named) {
  const folder = process.cwd()
  if (!named || !path.isAbsolute(named)) return folder
  try {
    const [a, b] = [fs.statSync(named), fs.statSync(folder)]
    return a.ino === b.ino && a.dev === b.dev ? named : folder
  } catch {
    return folder
  }
}

module.exports = { AppPath, folderAsNamed, START_FOLDER }
