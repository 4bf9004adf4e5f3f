'use strict'

/**
 * Many connections at once, or over some time, from several processes: each connects, sends one request, and stays.
 * Started as a program, this file is one of those processes.
 */

require('./bare-children')
const { fork } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const net = require('node:net')

const REPORT_MS = 50

/**
 * @typedef {object} Counts
 * @property {number} connected
 * @property {number} answered by a whole response with status 200
 * @property {string[]} failures why, one for each connection that failed or was closed by the other side
 */

class Storm extends EventEmitter {
  /** @type {Counts[]} */
  #reports = []

  /**
   * @param {any} t tap's
   * @param {{ port: number, connections: number, processes?: number, overMs?: number }} how overMs 0: at once
   */
  constructor (t, { port, connections, processes = 4, overMs = 0 }) {
    super()
    this.connections = connections
    this.children = Array.from({ length: processes }, (_, i) => {
      const share = Math.floor((connections + i) / processes)
      const child = fork(__filename, [String(port), String(share), String(overMs)])
      child.on('message', report => {
        this.#reports[i] = /** @type {Counts} */ (report)
        this.emit('change')
      })
      return child
    })
    t.teardown(() => this.end())
  }

  /** @returns {Counts} so far */
  counts () {
    const reports = this.#reports.filter(Boolean)
    const sum = (/** @type {'connected' | 'answered'} */ key) =>
      reports.reduce((total, report) => total + report[key], 0)
    return { connected: sum('connected'), answered: sum('answered'), failures: reports.flatMap(report => report.failures) }
  }

  /**
   * @param {(counts: Counts) => boolean} isSo
   * @param {number} [timeoutMs]
   * @returns {Promise<Counts>} the counts at that moment, or at the timeout
   */
  async until (isSo, timeoutMs = 60_000) {
    const deadline = AbortSignal.timeout(timeoutMs)
    while (!isSo(this.counts()) && !deadline.aborted) await once(this, 'change', { signal: deadline }).catch(() => {})
    return this.counts()
  }

  /** Closes the answered connections. */
  dismissAnswered () {
    for (const child of this.children) child.send('dismiss')
  }

  end () {
    for (const child of this.children) child.kill('SIGKILL')
  }
}

/** @param {number} port @param {number} connections @param {number} overMs */
function blow (port, connections, overMs) {
  /** @type {Counts} */
  const counts = { connected: 0, answered: 0, failures: [] }
  /** @type {Set<net.Socket>} */
  const answered = new Set()
  const open = () => {
    const socket = net.connect(port, '127.0.0.1', () => {
      counts.connected++
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    })
    let received = ''
    let error = 'closed'
    socket.setEncoding('latin1').on('data', chunk => {
      received += chunk
      if (answered.has(socket) || !/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/.test(received)) return
      answered.add(socket)
      counts.answered++
    })
    socket.on('error', ({ code }) => { error = code ?? error })
    socket.on('close', () => { if (!socket.isLeaving) counts.failures.push(answered.has(socket) ? `${error} after the answer` : error) })
  }
  process.on('message', () => {
    for (const socket of answered) {
      socket.isLeaving = true
      socket.destroy()
    }
  })
  process.on('disconnect', () => process.exit())
  setInterval(() => { if (process.connected) process.send(counts) }, REPORT_MS)

  const began = performance.now()
  let opened = 0
  const more = () => {
    const due = overMs
      ? Math.min(connections, Math.ceil(connections * (performance.now() - began) / overMs))
      : connections
    for (; opened < due; opened++) open()
    if (opened < connections) setTimeout(more, 5)
  }
  more()
}

if (require.main === module) blow(...process.argv.slice(2).map(Number))

module.exports = { Storm }
