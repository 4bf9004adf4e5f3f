'use strict'

/** Paths on the command line that are not regular files: none of them may block the command. */

const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { call } = require('../support/calls')
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
    const { code, stderr } = await call(args, { env: { PORT: '0' } })
    t.equal(code, 2, args.join(' '))
    t.match(stderr, sentence)
  }
  const [[args, sentence]] = calls
  t.match(await runToEnd([process.execPath, BIN, ...args], { env: { PORT: '0' } }), { code: 2, stderr: sentence }, 'in a process of its own, too')
})

t.test('what is no JavaScript is refused in one sentence, by what shows it; what may be is not', async t => {
  const folder = shortFolder(t)
  /** @param {string} name @param {string | Buffer} source @param {string} why */
  const refused = async (name, source, why) => {
    fs.writeFileSync(path.join(folder, name), source)
    const { code, stderr } = await call([name], { cwd: folder })
    t.same([code, stderr], [2, `recycle: ${name} is not JavaScript: ${why}; write recycle <file>, with the JavaScript file of the server itself\n`])
  }
  await refused('start.sh', '#!/bin/sh\nexec node server.js\n', 'its first line is "#!/bin/sh"')
  await refused('bare.sh', 'exec node server.js\n', 'its first line is "exec node server.js"')
  await refused('app.py', '#!/usr/bin/env python3\nprint(1)\n', 'its first line is "#!/usr/bin/env python3"')
  await refused('program', Buffer.from('\x7fELF\x02\x01\x01\0', 'latin1'), 'it is a binary file')
  await refused('app.wasm', Buffer.from('\0asm', 'latin1'), 'it is a binary file')
  await refused('app.json', '{}', 'it is data')
  const programs = ['#!/bin/sh\n":" //# ; exec node "$0" "$@"\n', '#!/usr/bin/env -S node --no-warnings\nimport "node:http"\n', '#!/usr/bin/env tsx\nlet a: number\n', '']
  for (const source of programs) {
    fs.writeFileSync(path.join(folder, 'program'), source)
    const { code, stdout } = await call(['unit', 'program'], { cwd: folder })
    t.same([code, /^ExecStart=.* (\S+)$/m.exec(stdout)?.[1]], [0, path.join(folder, 'program')], source)
  }
})

t.test('the shell script of a package manager stands for the program that it starts', async t => {
  const folder = fs.realpathSync(shortFolder(t))
  const bin = path.join(folder, 'node_modules', '.bin')
  const put = (/** @type {string} */ file, /** @type {string} */ text) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), text)
  }
  put('node_modules/.store/kit/run.js', '')
  put('node_modules/named/package.json', '{ "bin": "cli.js" }')
  put('node_modules/named/cli.js', '')
  put('node_modules/.bin/kit', '#!/bin/sh\nif [ -x "$basedir/node" ]; then\n  exec "$basedir/node"  "$basedir/../.store/kit/run.js" "$@"\nelse\n  exec node  "$basedir/../.store/kit/run.js" "$@"\nfi\n')
  put('node_modules/.bin/named', '#!/bin/sh\nexec node "$(dirname "$0")"/../named/cli.js "$@"\n')
  put('node_modules/.bin/other', '#!/bin/sh\nexec "$0.bin"\n')
  for (const [word, file] of [['kit', '.store/kit/run.js'], [path.join(bin, 'kit'), '.store/kit/run.js'], ['named', 'named/cli.js']]) {
    const { code, stdout } = await call(['unit', word, '--port', '1'], { cwd: folder })
    t.same([code, /^ExecStart=.*recycle\.js --name \S+ (.*)$/m.exec(stdout)?.[1]], [0, `${path.join(folder, 'node_modules', file)} --port 1`], word)
  }
  t.match(await call(['other'], { cwd: folder }), { code: 2, stderr: /\.bin\/other is not JavaScript: its first line is "#!\/bin\/sh"/ })
})

t.test('a FIFO or a folder with the name of a config file is refused', async t => {
  const folder = shortFolder(t)
  fs.writeFileSync(path.join(folder, 'package.json'), '{}')
  const file = makeFifo(path.join(folder, 'recycle.config.js'))
  const refused = async () => {
    const { code, stderr } = await call([PLAIN], { cwd: folder })
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
  const fifo = makeFifo(`${journal}.fifo`)
  fs.linkSync(journal, `${journal}.1`)
  fs.renameSync(fifo, journal) // at once: a journal that is missing is made anew
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
