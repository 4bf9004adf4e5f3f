'use strict'

/**
 * Appends NDJSON. If the path leads to another file (after a rotation), that file is opened and written from then on.
 * nginx and pino do the same on a signal; here no signal is needed.
 *
 * A reader can tell whether the journal is whole: where lines were lost, `journal.gap` says how many, and from when to
 * when; a file that has been rotated away ends with `journal.end`, and the next one begins with `journal.begin`, at the
 * time of its last line.
 */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { RecycleError } = require('../core/errors')
const { every } = require('../native/every')
const { fileId } = require('../core/file-id')
const { LineFile } = require('./line-file')
const { openForAppending, openForReading } = require('./regular-file')
/** @import { Item } from './line-file' */
/** @typedef {{ event: string, t: number } & Record<string, unknown>} Line */

const LOOK_EVERY_MS = 1000
const FLUSH_MS = 2000 // a pipe that is not read must not delay the fleet's exit

const STREAMS = new Map([['/dev/stdout', 1], ['/dev/stderr', 2]])

/**
 * @param {string} file a regular file, /dev/stdout, /dev/stderr or /dev/null
 * @param {(why: string) => void} [onTrouble] called once each time the journal cannot be written, or its file is not at
 *   the path, and at the end if lines are lost by then
 * @returns {{ write: (line: Line) => void, flush: () => Promise<void>, trouble: () => string | null }}
 *   `trouble`: why it cannot be written now, or its file is not at the path
 * @throws {RecycleError} RECYCLE_JOURNAL
 */
function openJournal (file, onTrouble = why => process.emitWarning(`the journal ${file} cannot be written: ${why}`)) {
  let isEnding = false
  /** Why no file can be opened at the path. @type {string | null} */
  let astray = null
  let why = ''
  /** Lost lines that the journal does not tell yet. @type {{ lines: number, from: number, to: number } | null} */
  let gap = null
  /** @type {Set<LineFile>} not closed yet */
  const open = new Set()

  const lose = (/** @type {Item[]} */ items) => {
    for (const { t } of items) {
      gap ??= { lines: 0, from: t, to: t }
      gap.lines++
      gap.to = Math.max(gap.to, t)
    }
  }
  const begin = (/** @type {number} */ fd) => {
    const lines = new LineFile(fd, error => {
      why = error.message
      onTrouble(why)
    })
    open.add(lines)
    lines.closed.then(lost => {
      open.delete(lines)
      lose(lost)
    })
    return lines
  }
  const gapLine = (/** @type {number} */ t) =>
    gap === null ? [] : [itemOf({ v: 1, t, event: 'journal.gap', ...gap, why })]
  const put = (/** @type {Item} */ item) => {
    if (current.write([...gapLine(item.t), item])) {
      gap = null
      return
    }
    const isUnread = gap === null && !current.isFailing
    if (isUnread) why = 'what has it open does not read it'
    lose([item])
    if (isUnread) onTrouble(why) // which may write a line
  }
  let { fd, id } = openFirst(file)
  let current = begin(fd)
  // Of a primary that was killed, on a full disk
  if (id !== null && endsWithinLine(file)) current.write([{ text: '\n', t: 0 }])

  const reopen = () => {
    try {
      ({ fd, id } = openForAppending(file))
    } catch (error) {
      const before = astray
      astray = `${/** @type {Error} */ (error).message}; lines still go to the previous file`
      if (before === null) onTrouble(astray)
      return
    }
    astray = null
    current.write([itemOf({ v: 1, t: lastAt, event: 'journal.end', why: 'rotated' })])
    current.end()
    current = begin(fd)
    const begun = itemOf({ v: 1, t: lastAt, event: 'journal.begin', why: 'rotated' })
    if (current.write([...gapLine(lastAt), begun])) gap = null
  }
  const look = () => fs.stat(file, (error, stat) => {
    if (isEnding) return
    if (error || fileId(stat) !== id) reopen()
    else astray = null
  })
  const endLooks = id === null ? null : every(LOOK_EVERY_MS, look)
  let lastAt = 0

  return {
    write (line) {
      if (isEnding) return
      lastAt = line.t
      put(itemOf(line))
    },
    trouble: () => astray ?? (current.isFailing || gap !== null ? why : null),
    async flush () {
      endLooks?.()
      isEnding = true
      const unsaid = gap
      const isSaid = gap !== null && current.write(gapLine(lastAt))
      const deadline = setTimeout(() => { for (const lines of open) lines.giveUp() }, FLUSH_MS)
      current.end()
      gap = null
      await Promise.all([...open].map(lines => lines.closed))
      clearTimeout(deadline)
      const { lines: last } = /** @type {{ lines: number }} */ (gap ?? { lines: 0 })
      // If anything is lost now, the line of the gap is
      const lost = last + (isSaid && last === 0 ? 0 : unsaid?.lines ?? 0) - Number(isSaid && last > 0)
      if (lost > 0) onTrouble(`its last ${lost === 1 ? 'line is' : `${lost} lines are`} lost${why ? `: ${why}` : ''}`)
    }
  }
}

/** @param {Line} line @returns {Item} */
const itemOf = line => ({ text: `${JSON.stringify(line)}\n`, t: line.t })

/** @param {string} file @returns {boolean} its last line has no end */
function endsWithinLine (file) {
  try {
    const fd = openForReading(file)
    const last = Buffer.alloc(1)
    const { size } = fs.fstatSync(fd)
    if (size > 0) fs.readSync(fd, last, 0, 1, size - 1)
    fs.closeSync(fd)
    return size > 0 && last[0] !== 0x0a
  } catch {
    return false // it may be written, and not read
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
 * write() must not block on a reader that does not read: a thread in write() keeps the process from exiting. The flags
 * of an inherited descriptor are shared with other processes, so a pipe or a terminal is opened anew with O_NONBLOCK. A
 * socket cannot be opened anew; Node makes it non-blocking when it opens its own stream.
 * @param {string} file @param {number} fd @returns {number}
 */
function openStream (file, fd) {
  const stat = fs.fstatSync(fd)
  if (stat.isSocket()) return (fd === 1 ? process.stdout : process.stderr).fd
  if (!stat.isFIFO() && !stat.isCharacterDevice()) return fd
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants
  return attempt(() => fs.openSync(file, O_WRONLY | O_NONBLOCK | O_NOCTTY), fd) // another user's terminal
}

module.exports = { openJournal }
