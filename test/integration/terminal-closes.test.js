'use strict'

/** A terminal that closes, by a real one: `script` holds its other end. */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { readJournal } = require('../..')
const { get } = require('../support/client')
const { freePort, BIN, FIXTURES } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')
const { lacking } = require('../support/program')

/**
 * A shell in a terminal of its own that runs a fleet.
 *
 * @param {any} t tap's
 * @param {(recycle: string) => string} command what the shell runs
 */
async function inTerminal (t, command) {
  const journal = path.join(t.testdir(), 'journal')
  const port = await freePort()
  const recycle = `${process.execPath} ${BIN} -w 2 --control none --stop-linger 0 --journal ${journal} ${path.join(FIXTURES, 'plain.js')}`
  const terminal = spawn('script', ['-qec', command(recycle), '/dev/null'], { env: { ...process.env, PORT: String(port), SHELL: '/bin/sh' }, stdio: ['pipe', 'ignore', 'ignore'] })
  const lines = async () => {
    const found = []
    for await (const line of readJournal(journal)) found.push(line)
    return found
  }
  const until = async (/** @type {string} */ event, count = 1) => {
    for (const deadline = Date.now() + 20_000; ;) {
      const found = fs.existsSync(journal) ? (await lines()).filter(line => line.event === event) : []
      if (found.length >= count) return found[count - 1]
      if (Date.now() > deadline) throw new Error(`no ${event} (${count}); there were ${fs.existsSync(journal) ? (await lines()).map(line => line.event).join(', ') : 'none'}`)
      await new Promise(resolve => setTimeout(resolve, 30))
    }
  }
  const { pid } = await until('fleet.start')
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {} // it has exited
  })
  await until('worker.ready', 2)
  return {
    port,
    pid,
    until,
    lines,
    /** As when its window is closed: the kernel hangs the terminal up. */
    async close () {
      terminal.kill('SIGKILL')
      await once(terminal, 'exit')
    }
  }
}

/** @param {number} pid */
const isAlive = pid => fs.existsSync(`/proc/${pid}/stat`) && !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))

t.test('the terminal of a fleet closes: it stops, and what is in flight finishes', { skip: lacking('script') }, async t => {
  const { port, pid, until, lines, close } = await inTerminal(t, recycle => recycle)
  process.kill(pid, 'SIGHUP')
  await until('fleet.reloaded')
  const slow = get(port, '/slow?ms=600')
  t.equal((await get(port)).status, 200)
  await close()
  t.match(await slow, { status: 200, body: 'ok' })
  await until('fleet.stop')
  t.same((await lines()).filter(line => line.event === 'stopped').map(({ cut, unaccounted }) => [cut, unaccounted]), [[0, 0], [0, 0]])
  t.ok(await becomesTrue(() => !isAlive(pid)))
  t.equal((await get(port)).error, 'ECONNREFUSED', 'the port is free')
})

t.test('with nohup a fleet outlives its terminal, and SIGHUP means reload', { skip: lacking('script') }, async t => {
  const { port, pid, until, close } = await inTerminal(t, recycle => `nohup ${recycle} > /dev/null 2>&1 & sleep 60`)
  await close()
  t.match(await get(port), { status: 200 })
  process.kill(pid, 'SIGHUP')
  await until('fleet.reloaded')
  process.kill(pid, 'SIGTERM')
  await until('fleet.stop')
  t.ok(await becomesTrue(() => !isAlive(pid)))
})
