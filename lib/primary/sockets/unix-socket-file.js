'use strict'

/**
 * The file of a unix socket. Many apps delete it before they listen, since a predecessor may have left it there, or as they
 * exit; here it is the whole fleet's. So it has a second name, <path>.recycle, by which the first is given back as soon as
 * it is gone: a client that connects in between, for a millisecond or so, finds nothing there.
 */

const fs = require('node:fs')
const path = require('node:path')
const { fileId } = require('../../core/file-id')

class UnixSocketFile {
  /** @type {fs.FSWatcher | null} */
  #watcher = null
  /** @type {string | null} */
  id

  /** @param {string} file of a socket that has been bound */
  constructor (file) {
    this.file = path.resolve(file)
    this.spare = `${this.file}.recycle`
    this.id = idOf(this.file)
    try {
      if (!this.#isOurs(this.spare)) fs.rmSync(this.spare, { force: true })
      this.restore()
      this.#watcher = fs.watch(path.dirname(this.file), { persistent: false }, () => this.restore()).on('error', () => {})
    } catch {} // no watches left, or the folder is out of reach: it is given back when a worker listens there
  }

  /** Either name is given back by the other: another fleet that listens on the same inherited socket removes the second name when it ends. */
  restore () {
    for (const [name, other] of [[this.file, this.spare], [this.spare, this.file]]) {
      try {
        if (!fs.existsSync(name) && this.#isOurs(other)) fs.linkSync(other, name)
      } catch {} // no hard links there, or the folder is gone
    }
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
      if (this.#isOurs(this.spare)) fs.rmSync(this.spare, { force: true })
    } catch {} // the folder may no longer be written to
  }

  /**
   * Removes the file and closes the socket. libuv deletes the file by the path that it was bound to, even if another's is there
   * by now: that one is kept by a name beside it, and given back in the same turn.
   *
   * @param {{ close: () => void }} handle
   */
  close (handle) {
    this.remove()
    const kept = `${this.file}.${process.pid}`
    try {
      fs.linkSync(this.file, kept)
    } catch {} // there is none, as a rule
    handle.close()
    try {
      fs.linkSync(kept, this.file)
    } catch {} // there is none, or its owner has given it back
    try {
      fs.rmSync(kept, { force: true })
    } catch {} // the folder is out of reach
  }

  /** @param {string} name */
  #isOurs (name) {
    return this.id !== null && idOf(name) === this.id
  }
}

/** @param {string} file @returns {string | null} null: there is none, or it is out of reach */
function idOf (file) {
  try {
    return fileId(fs.lstatSync(file))
  } catch {
    return null
  }
}

module.exports = { UnixSocketFile }
