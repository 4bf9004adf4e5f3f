'use strict'

/**
 * Appends NDJSON. When the file under the path is another one than ours (logrotate has moved it away), it is opened
 * anew, as nginx and pino do on a signal; here nobody has to send one.
 */

const fs = require('node:fs')
const { SonicBoom } = require('sonic-boom')
const { RecycleError } = require('../core/errors')

const LOOK_EVERY_MS = 1000
const KEPT_BYTES = 16 * 1024 ** 2 // on a full disk; the lines beyond are lost

/**
 * @param {string} file
 * @returns {{ write: (line: Record<string, any>) => void, flush: () => Promise<void> }}
 * @throws {RecycleError} RECYCLE_JOURNAL
 */
function openJournal (file) {
  let inode = touch(file)
  const out = new SonicBoom({ dest: file, append: true, sync: false, minLength: 0, maxLength: KEPT_BYTES })
  let isFailing = false
  out.on('error', error => {
    if (!isFailing) process.emitWarning(`the journal ${file} cannot be written: ${error.message}`)
    isFailing = true
  })
  out.on('write', () => { isFailing = false })

  const look = () => fs.stat(file, (error, stat) => {
    if (!error && stat.ino === inode) return
    try {
      inode = touch(file)
      out.reopen()
    } catch {} // its folder is gone: what is open is written on
  })
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()

  return {
    write: line => { out.write(`${JSON.stringify(line)}\n`) },
    flush () {
      clearInterval(timer)
      return new Promise(resolve => {
        out.once('close', () => resolve())
        out.once('error', () => resolve()) // a full disk must not keep the fleet from stopping
        out.end()
      })
    }
  }
}

/** @param {string} file @returns {number} its inode */
function touch (file) {
  try {
    const fd = fs.openSync(file, 'a')
    const { ino } = fs.fstatSync(fd)
    fs.closeSync(fd)
    return ino
  } catch (error) {
    throw new RecycleError('RECYCLE_JOURNAL', { file, why: /** @type {Error} */ (error).message })
  }
}

module.exports = { openJournal }
