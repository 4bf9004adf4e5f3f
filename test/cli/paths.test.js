'use strict'

/** Paths on the command line that are not regular files: none of them may block the command. */

const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { startCli, BIN, FIXTURES } = require('../support/fleet')
const { shortFolder } = require('../support/control')
const { get } = require('../support/client')
const { runToEnd } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')
const CLEAN = '{"v":1,"t":1,"event":"fleet.start","app":"app.js"}\n'

/** @param {string} file @returns {string} */
function makeFifo (file) {
  execFileSync('mkfifo', [file])
  return file
}

t.test('a FIFO, a socket, a device and a folder are refused in one sentence, with exit code 2', async t => {
  const folder = shortFolder(t)
  const fifo = makeFifo(path.join(folder, 'fifo'))
  const socket = path.join(folder, 'socket')
  const server = net.createServer().listen(socket)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const run = path.join(folder, 'run.ndjson')
  fs.writeFileSync(run, CLEAN)
  /** @type {[string[], RegExp][]} */
  const calls = [
    [['--journal', fifo, PLAIN], /^recycle: the journal \S+fifo cannot be written: it is a FIFO, not a regular file\n$/],
    [['--journal', socket, PLAIN], /it is a socket, not a regular file\n$/],
    [['--journal', '/dev/zero', PLAIN], /it is a device, not a regular file\n$/],
    [['--journal', folder, PLAIN], /it is a folder, not a regular file\n$/],
    [['drill', '--out', fifo, PLAIN], /^recycle drill: the journal \S+fifo cannot be written: it is a FIFO, not a regular file\n$/],
    [['drill', '--html', fifo, PLAIN], /^recycle drill: --html was given "\S+fifo"; it takes a file that can be written \(it is a FIFO, not a regular file\)\n$/],
    [['report', '--html', fifo, run], /^recycle: --html was given "\S+fifo"; it takes a file that can be written \(it is a FIFO, not a regular file\)\n$/],
    [['--config', fifo, PLAIN], /^recycle: the config file \S+fifo \S+[^\n]+\n$/],
    [[fifo], /^recycle: the app \S+fifo cannot be started: it is not a regular file\n$/]
  ]
  for (const [args, sentence] of calls) {
    const { code, stderr } = await runToEnd([process.execPath, BIN, ...args], { env: { PORT: '0' }, timeoutMs: 10_000 })
    t.equal(code, args.length > 1 ? 2 : 1, args.join(' '))
    t.match(stderr, sentence)
  }
})

t.test('a FIFO or a folder with the name of a config file is refused', async t => {
  const folder = shortFolder(t)
  fs.writeFileSync(path.join(folder, 'package.json'), '{}')
  const file = makeFifo(path.join(folder, 'recycle.config.js'))
  const refused = async () => {
    const { code, stderr } = await runToEnd([process.execPath, BIN, PLAIN], { cwd: folder, timeoutMs: 10_000 })
    t.equal(code, 2)
    t.match(stderr, /^recycle: the config file recycle\.config\.js is no file\n$/)
  }
  await refused()
  fs.rmSync(file)
  fs.mkdirSync(file)
  await refused()
})

t.test('when a FIFO replaces the journal, the fleet serves on, reports it once, and writes to the next regular file', async t => {
  const folder = shortFolder(t)
  const journal = path.join(folder, 'j.ndjson')
  const { port, child, events, exited } = await startCli(t, ['-w', '1', '-i', '50ms', '--journal', journal, PLAIN])
  await events.until('worker.ready')
  fs.renameSync(journal, `${journal}.1`)
  makeFifo(journal)
  t.match(await events.until('fleet.warning', { timeoutMs: 10_000 }), { level: 40, warning: 'journal', file: journal, why: /^it is a FIFO, not a regular file; lines still go to the previous file$/ })
  t.equal((await get(port)).status, 200)
  child.kill('SIGHUP')
  await events.until('recycled')
  fs.rmSync(journal)
  fs.writeFileSync(`${journal}.new`, '')
  fs.renameSync(`${journal}.new`, journal)
  const deadline = Date.now() + 10_000
  while (fs.statSync(journal).size === 0 && Date.now() < deadline) await new Promise(resolve => setTimeout(resolve, 20))
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.equal(events.all('fleet.warning').length, 1)
  const [before, after] = [`${journal}.1`, journal].map(file => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line).event))
  t.ok(before.includes('fleet.warning') && before.includes('recycled'), 'the file that was open is still written')
  t.equal(after.at(-1), 'fleet.stop')
})
