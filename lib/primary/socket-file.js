'use strict'

/**
 * The file of a unix socket. Many apps delete it before they listen, since a predecessor may have left it there, or as they
 * exit; here it is the whole fleet's. So it has a second name, <path>.recycle, by which the first is given back as soon as
 * it is gone: whoever connects in between, for a millisecond or so, finds nothing there.
 */

const fs = require('node:fs')
const path = require('node:path')

class SocketFile {
  /** @type {fs.FSWatcher | null} */
  #watcher = null

  /** @param {string} file of a socket that has been bound */
  constructor (file) {
    this.file = path.resolve(file)
    this.spare = `${this.file}.recycle`
    try {
      fs.rmSync(this.spare, { force: true })
      fs.linkSync(this.file, this.spare)
      this.#watcher = fs.watch(path.dirname(this.file), { persistent: false }, () => this.restore()).on('error', () => {})
    } catch {} // no hard links there, or no watches left: it is given back when a worker listens there
  }

  restore () {
    try {
      if (!fs.existsSync(this.file)) fs.linkSync(this.spare, this.file)
    } catch {} // the spare is gone too, or the folder
  }

  remove () {
    this.#watcher?.close()
    for (const name of [this.file, this.spare]) {
      try {
        fs.rmSync(name, { force: true })
      } catch {} // the folder is another by now, or may no longer be written to
    }
  }
}

module.exports = { SocketFile }
