'use strict'

/**
 * Real fleets for tests: in this process by the library, or by the command line. Nothing sleeps: tests wait for events.
 */

require('./bare-children')
const { spawn } = require('node:child_process')
const { randomInt } = require('node:crypto')
const { EventEmitter } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const readline = require('node:readline')
const { supervise } = require('../..')

const BIN = path.join(__dirname, '..', '..', 'bin', 'recycle.js')
const FIXTURES = path.join(__dirname, '..', 'fixtures')

const FREQUENT = ['worker.sample', 'fleet.memory']

/** Lines of a journal as they arrive; a test takes an earlier line or waits for one. */
class Events extends EventEmitter {
  /** @type {Record<string, any>[]} */
  lines = []

  /** @param {Record<string, any>} line */
  push (line) {
    this.lines.push(line)
    this.emit('line', line)
  }

  /** @param {string} event */
  all (event) {
    return this.lines.filter(line => line.event === event)
  }

  /** @param {number} pid of a worker @returns {string[]} its events, without samples */
  lifeOf (pid) {
    return this.lines.filter(line => (line.pid === pid || (line.oldPid === pid && line.event !== 'worker.ready')) && line.event !== 'worker.sample').map(line => line.event)
  }

  /** Waits for the first sample of every worker, that of a fresh process. @param {any} supervisor */
  async allSampled (supervisor) {
    for (const { pid } of supervisor.status().workers) await this.until('worker.sample', { where: line => line.pid === pid })
  }

  /**
   * The `count`th line of this kind, counted from the start.
   *
   * @param {string} event
   * @param {{ count?: number, where?: (line: Record<string, any>) => boolean, timeoutMs?: number }} [how]
   * @returns {Promise<Record<string, any>>}
   */
  async until (event, { count = 1, where = () => true, timeoutMs = 30_000 } = {}) {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const found = this.all(event).filter(where)
      if (found.length >= count) return found[count - 1]
      const leftMs = deadline - Date.now()
      if (leftMs <= 0) throw new Error(`no ${event} (${count}) within ${timeoutMs} ms; there were ${this.lines.map(l => l.event).filter(event => !FREQUENT.includes(event)).join(', ')}`)
      await new Promise(resolve => {
        const timer = setTimeout(done, leftMs)
        this.on('line', done)
        const events = this
        function done () {
          clearTimeout(timer)
          events.removeListener('line', done)
          resolve(undefined)
        }
      })
    }
  }
}

// Below those that the kernel takes for clients and for `listen(0)`. Of the files that tap runs at a time each has its
// share, and takes one after the other: what is free stays free until the fleet listens there.
const FIRST_PORT = 10_240
const SHARE = 2816
const SHARES = 8
const firstPort = FIRST_PORT + SHARE * (Number(process.env.TAP_JOB_ID ?? randomInt(SHARES)) % SHARES)
let nextPort = randomInt(SHARE)

/** @returns {Promise<number>} a free port */
async function freePort () {
  const server = net.createServer()
  for (;;) {
    const port = firstPort + nextPort++ % SHARE
    const isFree = await new Promise(resolve => server.once('error', () => resolve(false)).listen(port, () => resolve(true)))
    server.removeAllListeners()
    if (!isFree) continue
    await new Promise(resolve => server.close(resolve))
    return port
  }
}

/**
 * A fleet in this process. The fixture listens on process.env.PORT.
 *
 * @param {any} t tap's
 * @param {string} fixture a file of test/fixtures, or an absolute path
 * @param {Record<string, any>} [options] of supervise()
 * @param {{ mayFail?: boolean }} [how] `mayFail`: the primary itself may fail at something
 */
async function startFleet (t, fixture, options = {}, { mayFail = false } = {}) {
  const port = await freePort()
  process.env.PORT = String(port)
  const supervisor = supervise({ app: path.resolve(FIXTURES, fixture), workers: 2, interval: '100ms', stopLinger: '200ms', ...options })
  const events = new Events()
  if (!mayFail) events.on('line', line => failOnFailure(t, line))
  supervisor.on('event', line => events.push(line))
  /** The messages of the app by process.send({ what, … }). */
  const told = new Events()
  supervisor.on('message', ({ pid, message }) => told.push({ event: message?.what, pid, ...message }))
  t.teardown(() => supervisor.stop({ now: true }))
  await supervisor.ready()
  return { port, supervisor, events, told }
}

/**
 * A fleet by `recycle …` in a process of its own, and a process group of its own.
 *
 * @param {any} t tap's
 * @param {string[]} args
 * @param {object} [how]
 * @param {Record<string, string>} [how.env]
 * @param {string} [how.cwd]
 * @param {boolean} [how.detached]
 * @param {string} [how.node] another node
 * @param {string} [how.bin] another release's command
 * @param {string} [how.program] one that supervises a fleet by the library, with every event in the log, in JSON
 * @param {string} [how.word] the first word of the call
 * @param {(port: number) => string[]} [how.under] the program that starts it, with its arguments
 * @param {boolean} [how.mayFail] the primary itself may fail at something
 */
async function startCli (
  t, args,
  {
    env = {}, cwd, detached = true, node = process.execPath, bin = BIN, program, word, under = () => [], mayFail = false
  } = {}
) {
  const port = await freePort()
  const [first, ...all] = [...under(port), node, ...program ? [program] : [bin, ...word ? [word] : [], '--log', 'json', ...args]]
  const child = spawn(first, all, {
    env: { ...process.env, PORT: String(port), ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached
  })
  const events = new Events()
  if (!mayFail) events.on('line', line => failOnFailure(t, line))
  /** Output of the supervisor and the workers that is not an event. @type {string[]} */
  const said = []
  /** @type {string[]} */
  const out = []
  readline.createInterface({ input: child.stderr }).on('line', text => {
    const line = parse(text)
    if (line?.event) events.push(line)
    else said.push(text)
  })
  readline.createInterface({ input: child.stdout }).on('line', text => out.push(text))
  const exited = new Promise(resolve => child.once('close', (code, signal) => resolve({ code, signal })))
  t.teardown(() => {
    try {
      process.kill(detached ? -(child.pid) : /** @type {number} */ (child.pid), 'SIGKILL')
    } catch {} // it has exited
    return exited
  })
  return { port, child, events, said, out, exited }
}

/** A primary that fails goes on, and would go on unseen. @param {any} t tap's @param {Record<string, any>} line */
function failOnFailure (t, { event, warning, what, why }) {
  if (event === 'fleet.warning' && warning === 'primary-failed') t.fail(`the primary has failed: ${what}: ${why}`)
}

/** @param {string} text */
function parse (text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The seven outcomes of a connection; their sum is `connections`. @param {Record<string, any>} account */
function sumOfEnds ({ moved, closedByClient, closedAfterResponse, closedIdle, cut, unacked, unaccounted }) {
  return moved + closedByClient + closedAfterResponse + closedIdle + cut + unacked + unaccounted
}

module.exports = { startFleet, startCli, freePort, Events, sumOfEnds, BIN, FIXTURES }
