'use strict'

/** A fleet by the command line, with a hard limit of descriptors per process. */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { BIN, Events, freePort } = require('./fleet')

/**
 * @param {any} t tap's
 * @param {{ app: string, descriptors: number, workers: number, env?: Record<string, string> }} how
 */
async function startLimited (t, { app, descriptors, workers, env = {} }) {
  const port = await freePort()
  const journal = path.join(t.testdir(), 'journal')
  const command = `ulimit -n ${descriptors}; exec "$0" "$@"`
  const child = spawn('sh', ['-c', command, process.execPath, BIN, '--log', 'json', '--journal', journal, '-w', String(workers), '-i', '100ms', app], {
    env: { ...process.env, PORT: String(port), ...env }, stdio: ['ignore', 'ignore', 'pipe'], detached: true
  })
  const gone = new Promise(resolve => child.once('close', resolve))
  t.teardown(() => {
    try {
      process.kill(-(/** @type {number} */ (child.pid)), 'SIGKILL')
    } catch {} // it has exited
    return gone
  })
  const events = new Events()
  /** Output that is not an event. @type {string[]} */
  const said = []
  readline.createInterface({ input: child.stderr }).on('line', text => {
    try {
      events.push(JSON.parse(text))
    } catch {
      said.push(text)
    }
  })
  await events.until('worker.ready', { count: workers })

  /** Connections by worker, as of its last sample. */
  const connections = () => {
    const byPid = new Map()
    for (const text of fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1)) {
      const line = JSON.parse(text)
      if (line.event === 'worker.sample') byPid.set(line.pid, line.connections)
    }
    return [...byPid.values()]
  }
  return { port, child, events, said, connections }
}

module.exports = { startLimited }
