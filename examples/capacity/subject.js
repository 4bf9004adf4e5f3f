'use strict'

/** The server that is tested: by itself, with a heap limit, or under recycle, with a budget. */

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const readline = require('node:readline')
const { EventEmitter, once } = require('node:events')
const { spawn } = require('node:child_process')

const SERVER = path.join(__dirname, 'server.js')
const RECYCLE = path.join(__dirname, '..', '..', 'bin', 'recycle.js')
const MIB = 1024 ** 2
const LONGEST_STDERR = 10_000
/** Of memory: what /proc/<pid>/statm counts in. */
const PAGE_BYTES = 4096

/** @returns {Promise<number>} a free port */
async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  return port
}

/**
 * One server process.
 *
 * @param {{ heapLimitBytes: number, bufferBytes: number, descriptors: number }} how `descriptors`: its limit
 */
async function startAlone ({ heapLimitBytes, bufferBytes, descriptors }) {
  const port = await freePort()
  const child = spawn('sh', ['-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, process.execPath, '--expose-gc', `--max-old-space-size=${Math.floor(heapLimitBytes / MIB)}`, SERVER], {
    env: { ...process.env, PORT: String(port), BUFFER_BYTES: String(bufferBytes), CAPACITY_TEST: '1' }, stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const subject = {
    port,
    /** The latest that it said. */
    heapUsedBytes: 0,
    buffersBytes: 0,
    residentBytes: 0,
    descriptors: 0,
    stderr: '',
    /** @type {{ code: number | null, signal: NodeJS.Signals | null } | null} */
    exit: null,
    /** Counts its descriptors, which takes some ms when they are many. */
    count () {
      try {
        subject.descriptors = fs.readdirSync(`/proc/${child.pid}/fd`).length
      } catch {} // it has exited
    },
    /**
     * @returns {Promise<{ heapUsedBytes: number, buffersBytes: number, residentBytes: number, descriptors: number }>}
     *   without garbage
     */
    collect () {
      return new Promise(resolve => {
        const done = () => {
          child.removeListener('message', look)
          child.removeListener('exit', done)
          subject.count()
          const { heapUsedBytes, buffersBytes, residentBytes, descriptors } = subject
          resolve({ heapUsedBytes, buffersBytes, residentBytes, descriptors })
        }
        const look = (/** @type {any} */ { isCollected }) => isCollected && done()
        child.on('message', look)
        child.once('exit', done)
        child.send('collect', () => {})
      })
    },
    async stop () {
      if (subject.exit) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  child.on('exit', (code, signal) => { subject.exit = { code, signal } })
  child.stderr?.setEncoding('utf8').on('data', text => { subject.stderr = (subject.stderr + text).slice(-LONGEST_STDERR) })
  child.on('message', (/** @type {any} */ { heapUsed, external }) => {
    subject.heapUsedBytes = heapUsed
    subject.buffersBytes = external
    try {
      subject.residentBytes = Number(fs.readFileSync(`/proc/${child.pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES
    } catch {} // it has exited
  })
  await once(child, 'message')
  return subject
}

/**
 * A fleet.
 *
 * @param {{ bufferBytes: number, maxRss: string, workers: string }} how
 */
async function startFleet ({ bufferBytes, maxRss, workers }) {
  const port = await freePort()
  const child = spawn(process.execPath, [RECYCLE, '--config', 'none', '--control', 'none', '--log', 'json', '-w', workers, '-m', maxRss, SERVER], {
    env: { ...process.env, PORT: String(port), BUFFER_BYTES: String(bufferBytes) }, stdio: ['ignore', 'ignore', 'pipe']
  })
  /** @type {Record<string, any>[]} */
  const events = []
  const news = new EventEmitter()
  const lines = readline.createInterface({ input: /** @type {any} */ (child.stderr) })
  lines.on('line', text => {
    if (!text.startsWith('{')) return
    const line = JSON.parse(text)
    events.push(line)
    news.emit('event', line)
  })
  const isReady = new Promise((resolve, reject) => {
    news.on('event', ({ event }) => { if (event === 'fleet.ready') resolve(undefined) })
    child.once('exit', () => reject(new Error('recycle has ended')))
  })
  isReady.catch(() => {}) // of a fleet that is stopped
  await isReady
  return {
    port,
    events,
    async stop () {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    }
  }
}

module.exports = { startAlone, startFleet }
