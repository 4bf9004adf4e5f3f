'use strict'

/**
 * Appends NDJSON. If the path leads to another file (after a rotation), that file is opened and written from then on. nginx
 * and pino do the same on a signal; here no signal is needed.
 */

const fs = require('node:fs')
const path = require('node:path')
const { SonicBoom } = require('sonic-boom')
const { RecycleError } = require('../core/errors')
const { fileId } = require('../core/file-id')
const { openForAppending } = require('./regular-file')

const LOOK_EVERY_MS = 1000
const KEPT_BYTES = 16 * 1024 ** 2 // buffered while the disk is full; further lines are lost
const FLUSH_MS = 2000 // a pipe that is not read must not delay the fleet's exit

const STREAMS = new Map([['/dev/stdout', 1], ['/dev/stderr', 2]])

/**
 * @param {string} file a regular file, /dev/stdout, /dev/stderr or /dev/null
 * @param {(why: string) => void} [onTrouble] called once each time the journal becomes incomplete, or its file is not at
 *   the path
 * @returns {{ write: (line: Record<string, any>) => void, flush: () => Promise<void> }}
 * @throws {RecycleError} RECYCLE_JOURNAL
 */
function openJournal (file, onTrouble = why => process.emitWarning(`the journal ${file} cannot be written: ${why}`)) {
  let isEnding = false
  let isGivenUp = false
  let isAstray = false
  /** @type {Set<SonicBoom>} streams that are not closed yet */
  const open = new Set()

  const begin = (/** @type {number} */ fd) => {
    const out = new SonicBoom({ fd, sync: false, minLength: 0, maxLength: KEPT_BYTES, retryEAGAIN: () => !isGivenUp })
    let isFailing = false
    out.on('write', () => { isFailing = false })
    out.on('error', error => {
      if (!isFailing) onTrouble(error.message)
      isFailing = true
      if (isEnding || out !== current) out.destroy() // no later line retries the write
    })
    out.on('close', () => open.delete(out))
    open.add(out)
    return out
  }
  let { fd, id } = openFirst(file)
  let current = begin(fd)

  const reopen = () => {
    try {
      ({ fd, id } = openForAppending(file))
    } catch (error) {
      if (!isAstray) onTrouble(`${/** @type {Error} */ (error).message}; lines still go to the previous file`)
      isAstray = true
      return
    }
    isAstray = false
    const old = current
    current = begin(fd)
    old.end()
  }
  const look = () => fs.stat(file, (error, stat) => {
    if (isEnding) return
    if (error || fileId(stat) !== id) reopen()
    else isAstray = false
  })
  const timer = id === null ? undefined : setInterval(look, LOOK_EVERY_MS).unref()

  return {
    write: line => { if (!isEnding) current.write(`${JSON.stringify(line)}\n`) },
    async flush () {
      clearInterval(timer)
      isEnding = true
      const closed = Promise.all([...open].map(out => new Promise(resolve => out.once('close', resolve))))
      /** @type {NodeJS.Timeout | undefined} */
      let deadline
      const isLate = new Promise(resolve => { deadline = setTimeout(resolve, FLUSH_MS) }).then(() => { isGivenUp = true })
      current.end()
      await Promise.race([closed, isLate])
      clearTimeout(deadline)
    }
  }
}

/** @param {string} file @returns {{ fd: number, id: string | null }} `id` null: not a file that can be rotated */
function openFirst (file) {
  const absolute = path.resolve(file)
  try {
    const stream = STREAMS.get(absolute)
    if (stream !== undefined) return { fd: openStream(absolute, stream), id: null }
    if (absolute === '/dev/null') return { fd: fs.openSync(absolute, 'a'), id: null }
    return openForAppending(file)
  } catch (error) {
    throw new RecycleError('RECYCLE_JOURNAL', { file, why: /** @type {Error} */ (error).message })
  }
}

/**
 * write() must not block on a reader that does not read: a thread in write() keeps the process from exiting. The flags of
 * an inherited descriptor are shared with other processes, so a pipe or a terminal is opened anew with O_NONBLOCK. A
 * socket cannot be opened anew; Node makes it non-blocking when it opens its own stream.
 *
 * @param {string} file
 * @param {number} fd
 * @returns {number}
 */
function openStream (file, fd) {
  const stat = fs.fstatSync(fd)
  if (stat.isSocket()) return (fd === 1 ? process.stdout : process.stderr).fd
  if (!stat.isFIFO() && !stat.isCharacterDevice()) return fd
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants
    return fs.openSync(file, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return fd // another user's terminal
  }
}

module.exports = { openJournal }
