'use strict'

/**
 * With --revive, orphans start the next primary: of all of a fleet one does, which has an abstract socket as its lock.
 * When it dies, another one has the lock.
 */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const { clearTimeout, setTimeout } = require('node:timers')

const LOCK_MS = 1000 // between two tries to get it
const FIRST_MS = 1000 // until the second attempt; each further one takes twice as long
const MOST = 5
const LINGER_MS = 5000 // of the lock, until no orphan is left
/** Variables that a worker has beside its primary's. */
const OF_WORKERS = /^(?:RECYCLE_(?:SLOT|WORKER|WORKER_ID|ORIGINAL)|NODE_UNIQUE_ID|NODE_CHANNEL_\w+)=/

/** @typedef {{ node: string, args: string[], cwd: string }} Program */

class Revival {
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /** @type {net.Server | null} */
  #lock = null
  #isOver = false

  /**
   * @param {Program} program @param {string} lock the path
   * @param {(event: string, fields: Record<string, unknown>) => void} say
   */
  constructor (program, lock, say) {
    this.program = program
    this.lock = lock
    this.say = say
  }

  begin () {
    const server = net.createServer(socket => socket.destroy())
    server.on('error', () => { // another orphan has it
      if (!this.#isOver) this.#timer = setTimeout(() => this.begin(), LOCK_MS).unref()
    })
    server.listen({ path: this.lock, exclusive: true }, () => {
      if (this.#isOver) return server.close()
      this.#lock = server
      this.#start(1)
    }).unref()
  }

  /** @param {number} attempt */
  #start (attempt) {
    const { node, args, cwd } = this.program
    const child = spawn(node, args, {
      cwd, env: ownEnvironment(), stdio: ['ignore', 'inherit', 'inherit'], detached: true
    })
    child.unref()
    const failed = (/** @type {string} */ why) => {
      if (this.#isOver) return
      const isLast = attempt === MOST
      this.say('worker.unrevived', { attempt, why, isLast })
      if (!isLast) this.#timer = setTimeout(() => this.#start(attempt + 1), FIRST_MS * 2 ** (attempt - 1)).unref()
    }
    child.once('error', ({ message }) => failed(`could not be started (${message})`))
    child.once('exit', (code, signal) => failed(signal ? `was killed by ${signal}` : `exited with code ${code}`))
    const { pid: started } = child
    if (started !== undefined) this.say('worker.revived', { attempt, started })
  }

  /** This worker is no orphan any more; others may be for a moment. */
  end () {
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#lock) setTimeout(() => this.#lock?.close(), LINGER_MS).unref()
  }
}

/** As the primary had it. */
function ownEnvironment () {
  const pairs = fs.readFileSync('/proc/self/environ', 'utf8').split('\0')
    .filter(pair => pair.includes('=') && !OF_WORKERS.test(pair))
  return Object.fromEntries(pairs.map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

module.exports = { Revival }
