'use strict'

/** The journal of a fleet of a campaign, which is moved and replaced while it is written, and read whole at the end. */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

class JournalFile {
  /** Earlier files of it, oldest first. @type {string[]} */
  #earlier = []

  /** @param {string} folder its folder is in this one */
  constructor (folder) {
    this.folder = path.join(folder, 'log')
    this.path = path.join(this.folder, 'journal')
    fs.mkdirSync(this.folder)
  }

  /** As a rotation does. @returns {() => void} ends it */
  move () {
    const to = `${this.path}.${this.#earlier.length}`
    if (fs.existsSync(this.path)) {
      fs.renameSync(this.path, to)
      this.#earlier.push(to)
    }
    return () => {}
  }

  /** @returns {() => void} ends it: there is a folder again */
  moveFolder () {
    const to = `${this.folder}.${this.#earlier.length}`
    fs.renameSync(this.folder, to)
    this.#earlier = this.#earlier.map(file =>
      path.dirname(file) === this.folder ? path.join(to, path.basename(file)) : file)
    if (fs.existsSync(path.join(to, 'journal'))) this.#earlier.push(path.join(to, 'journal'))
    return () => { fs.mkdirSync(this.folder) }
  }

  /** Nothing reads it. @returns {() => void} ends it: there is nothing in its place */
  replaceByFifo () {
    const fifo = `${this.path}.fifo`
    execFileSync('mkfifo', [fifo])
    this.move()
    fs.renameSync(fifo, this.path) // a journal that is missing may have been made anew
    return () => { fs.unlinkSync(this.path) }
  }

  read () {
    return [...this.#earlier, this.path].filter(file => fs.existsSync(file)).map(file => fs.readFileSync(file, 'utf8')).join('')
  }
}

module.exports = { JournalFile }
