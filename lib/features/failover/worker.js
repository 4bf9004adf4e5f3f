'use strict'

/** In a worker: its connections outlive it; see notes.js and duplicates.js. */

const fs = require('node:fs')
const { loadAddon } = require('../../native/addon')
const { Duplicates } = require('./duplicates')
const { Notes } = require('./notes')
const { MEMORY } = require('./packet')
const { Table } = require('./table')
/** @import { WorkerKernel, WorkerPart } from '../interface' */

const OOM_SCORE_ADJ = 100 // a worker goes before the primary, which has most to lose

/** @param {WorkerKernel} kernel @returns {WorkerPart} */
function noteConnections (kernel) {
  const { addon } = loadAddon()
  /** @type {Table | null} */
  let table = null
  /** @type {Duplicates | null} */
  let duplicates = null
  raiseOomScore()
  kernel.channel.on({
    duplicates (_, socket) {
      if (!socket || !addon) return socket?.close()
      socket.unref()
      try {
        table ??= new Table(addon)
        addon.send(socket.fd, MEMORY, [table.fd])
        if (duplicates) return duplicates.goOn(socket)
        duplicates = new Duplicates(kernel, addon, socket, table)
        kernel.tracker.witness = new Notes(duplicates)
      } catch {
        socket.close() // the primary sees that nothing comes
      }
    }
  })
  return {
    endCalls () { if (duplicates) duplicates.isOver = true },
    figures: () => ({ noteBytes: table?.sweep() ?? 0 })
  }
}

/** The kernel is to kill a worker where it must kill one of the fleet; unless it was told otherwise. */
function raiseOomScore () {
  try {
    if (fs.readFileSync('/proc/self/oom_score_adj', 'latin1').trim() === '0') {
      fs.writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE_ADJ))
    }
  } catch {} // no /proc, or not ours to write
}

module.exports = { part: noteConnections }
