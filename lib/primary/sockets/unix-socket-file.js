'use strict'

/**
 * The file of a unix socket. Many apps delete it before they listen, since a predecessor may have left it there, or as
 * they exit; here it is the whole fleet's. So it has a second name, <path>.recycle, by which the first is given back as
 * soon as it is gone: a client that connects in between, for a millisecond or so, finds nothing there.
 *
 * Where hard links are refused (virtiofs, 9p, some NFS) the second name is the file's only one, and the first a
 * symbolic link to it.
 */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { fileId } = require('../../core/file-id')

class UnixSocketFile {
  /** @type {fs.FSWatcher | null} */
  #watcher = null
  /** Null: the path does not lead to a socket, and nothing is done to it. @type {string | null} */
  id
  /** No link of any kind can be made there: to try again would move the file each time. */
  #hasNoLinks = false
  /** The last fault with it. @type {string | null} */
  #trouble = null
  /** Hears why clients may not find it. @type {(why: string) => void} */
  #tell = () => {}

  /** @param {string} file of a socket that has been bound */
  constructor (file) {
    this.file = path.resolve(file)
    this.spare = `${this.file}.recycle`
    this.id = isSocket(this.file) ? idOf(this.file) : null
    if (this.id === null) return
    const names = new Set([this.file, this.spare, path.dirname(this.file)].map(file => path.basename(file)))
    try {
      if (!this.#isOurs(this.spare)) fs.rmSync(this.spare, { force: true })
      // The folder is gone: restore() has said so
      this.#watcher = fs.watch(path.dirname(this.file), { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.restore() // others, in a busy /tmp, come by the thousand
      }).on('error', () => {})
    } catch (error) { // no watches left, say: it is given back when a worker listens there
      this.#note(`its folder cannot be watched (${/** @type {Error} */ (error).message}): when it is deleted, ` +
        'it is given back only when a worker listens there')
    }
    this.restore()
  }

  /** @param {(why: string) => void} tell hears of it from now on, and at once of what is wrong already */
  report (tell) {
    this.#tell = tell
    if (this.#trouble !== null) tell(this.#trouble)
  }

  /** No client can connect, and no name is left to give the file back by. */
  get isLost () {
    return this.id !== null && idOf(this.file) === null && !this.#isOurs(this.spare)
  }

  /**
   * Either name is given back by the other: another fleet that listens on the same inherited socket removes the second
   * name when it ends.
   */
  restore () {
    // Each looked at once: another primary may be giving it back now
    const [found, isSpared] = [idOf(this.file), this.#isOurs(this.spare)]
    const isThere = found !== null && found === this.id
    if (isThere && (isSpared || this.#hasNoLinks)) return
    try {
      if (isThere) this.#spare()
      else if (isSpared && found === null) this.#giveBack()
      else if (this.id !== null) {
        this.#note(found === null
          ? 'it has been deleted, and so has its second name: no client can connect until ' +
            'recycle reload has it opened anew'
          : 'another process has taken its path')
      }
    } catch (error) {
      this.#hasNoLinks = true
      this.#note(`it cannot be given a second name (${/** @type {Error} */ (error).message}): an app that deletes ` +
        'it before it listens leaves no client a way to connect')
    }
  }

  #spare () {
    try {
      fs.linkSync(this.file, this.spare)
    } catch (error) {
      const isFree = !fs.existsSync(this.spare)
      // Another primary was faster; one that is between this look and the next call would lose the socket's only name
      if (this.#isOurs(this.spare) || fs.lstatSync(this.file).isSymbolicLink()) return
      if (!isFree) throw error
      fs.renameSync(this.file, this.spare)
      this.#giveBack()
    }
  }

  #giveBack () {
    try {
      fs.linkSync(this.spare, this.file)
    } catch (error) {
      if (isTaken(error) || !this.#isOurs(this.spare)) return // another primary was faster, or leaves
      try {
        fs.symlinkSync(path.basename(this.spare), this.file)
      } catch (error) {
        if (isTaken(error)) return
        fs.renameSync(this.spare, this.file) // no second name, then
        throw error
      }
    }
  }

  /** @param {string} why */
  #note (why) {
    if (why === this.#trouble) return
    this.#trouble = why
    this.#tell(why)
  }

  /** Another primary looks after it. */
  letGo () {
    this.#watcher?.close()
  }

  /** Another fleet, or any process, may have taken the path once the file had been deleted: theirs is left alone. */
  remove () {
    this.#watcher?.close()
    for (const name of [this.file, this.spare]) {
      try {
        if (this.#isOurs(name)) fs.rmSync(name, { force: true })
      } catch {} // the folder is another by now, or may no longer be written to
    }
  }

  /** The socket stays open elsewhere, and so does its file; the second name goes. */
  leave () {
    this.#watcher?.close()
    this.restore()
    try {
      if (!this.#isOurs(this.spare)) return
      if (fs.lstatSync(this.file).isSymbolicLink()) fs.renameSync(this.spare, this.file)
      else fs.rmSync(this.spare, { force: true })
    } catch {} // the folder may no longer be written to
  }

  /**
   * Removes the file and closes the socket. libuv deletes the file by the path that it was bound to, even if another's
   * is there by now: that one is moved aside, and back in the same turn.
   * @param {{ close: () => void }} handle
   */
  close (handle) {
    this.remove()
    if (!isSocket(this.file)) return handle.close() // there is none, as a rule
    const aside = `${this.file}.${process.pid}`
    try {
      fs.renameSync(this.file, aside)
    } catch {} // the folder may not be written to: then libuv cannot delete it either
    handle.close()
    try {
      fs.renameSync(aside, this.file)
      fs.rmSync(aside, { force: true }) // its owner has given it back meanwhile: two names of one file stay two
    } catch {} // the folder is out of reach
  }

  /** @param {string} name */
  #isOurs (name) {
    return this.id !== null && idOf(name) === this.id
  }
}

/** @param {string | null | undefined} path of a socket, if any @returns {UnixSocketFile | null} null: it has no file */
const fileAt = path => path && !path.startsWith('\0') ? new UnixSocketFile(path) : null

/** @param {unknown} error of a link that could not be made: another process has made one meanwhile */
const isTaken = error => /** @type {NodeJS.ErrnoException} */(error).code === 'EEXIST'

/** @param {string} file */
const isSocket = file => attempt(() => fs.statSync(file).isSocket(), false)

/** @param {string} file @returns {string | null} null: there is none, or it is out of reach */
const idOf = file => attempt(() => fileId(fs.statSync(file)), null)

module.exports = { UnixSocketFile, fileAt }
