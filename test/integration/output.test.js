'use strict'

/**
 * A reader of stdout or stderr that is slow, or does not read, does not stop the primary; and each line of a worker
 * arrives whole.
 */

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { get, clientPerWorker } = require('../support/client')
const { startCli, freePort, Events, BIN, FIXTURES } = require('../support/fleet')
const { becomesTrue, livingOfGroup, runToEnd } = require('../support/processes')
const { lacking } = require('../support/program')

const WRITES = path.join(FIXTURES, 'writes.js')
const QUICK = ['-i', '50ms', '--stop-linger', '100ms', '--kill-timeout', '2s']

/**
 * A fleet of one worker whose events are read from its journal: nothing reads what it writes.
 *
 * @param {any} t tap's
 * @param {string[]} args
 * @param {any[]} stdio
 * @param {string[]} [under] the program that starts it
 */
async function startUnread (t, args, stdio, under = []) {
  const port = await freePort()
  const journal = path.join(t.testdir(), 'journal')
  const argv = [...under, process.execPath, BIN, '-w', '1', ...QUICK, '--control', 'none', '--journal', journal, ...args, WRITES]
  const [program, ...rest] = under.length > 0 ? ['script', '-qec', argv.slice(1).join(' '), '/dev/null'] : argv
  const child = spawn(program, rest, { stdio, env: { ...process.env, PORT: String(port), SHELL: '/bin/sh' }, detached: true })
  const exited = once(child, 'exit')
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {} // it has exited
    return exited
  })
  const events = new Events()
  const read = setInterval(() => {
    const lines = fs.existsSync(journal) ? fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1) : []
    for (const line of lines.slice(events.lines.length)) events.push(JSON.parse(line))
  }, 20)
  t.teardown(() => clearInterval(read))
  const { pid } = await events.until('fleet.start')
  return { port, child, events, pid, exited }
}

/** A pipe in which there is room for nothing more, and its reader. @param {any} t tap's */
function fullPipe (t) {
  const fifo = path.join(t.testdir(), 'fifo')
  execFileSync('mkfifo', [fifo])
  const { O_RDWR, O_NONBLOCK, O_WRONLY, O_RDONLY } = fs.constants
  const both = fs.openSync(fifo, O_RDWR)
  const filling = fs.openSync(fifo, O_WRONLY | O_NONBLOCK)
  const isFull = () => {
    try {
      return fs.writeSync(filling, `${'-'.repeat(4095)}\n`) === 0
    } catch {
      return true // EAGAIN
    }
  }
  while (!isFull());
  const writer = fs.openSync(fifo, O_WRONLY)
  const reader = fs.openSync(fifo, O_RDONLY | O_NONBLOCK)
  t.teardown(() => [both, filling, writer, reader].forEach(fd => fs.closeSync(fd)))
  const bytes = Buffer.alloc(64 * 1024)
  let text = ''
  return {
    writer,
    /** What has been read so far. */
    read () {
      try {
        for (let n; (n = fs.readSync(reader, bytes)) > 0;) text += bytes.latin1Slice(0, n)
      } catch {} // EAGAIN
      return text
    }
  }
}

/** @param {any} t tap's @param {Awaited<ReturnType<typeof startUnread>>} fleet */
async function reloads (t, { port, events, pid }) {
  await events.until('worker.ready')
  process.kill(pid, 'SIGHUP')
  await events.until('fleet.reloaded')
  t.match(await get(port), { status: 200 })
}

/** @param {any} t tap's @param {Awaited<ReturnType<typeof startUnread>>} fleet */
async function stops (t, { pid, exited }) {
  const begun = Date.now()
  process.kill(pid, 'SIGTERM')
  const [code] = await exited
  t.equal(code, 0)
  t.ok(Date.now() - begun < 8000, `it stopped after ${Date.now() - begun} ms`)
}

t.test('a pipe on stderr that is full from the start: the fleet starts and reloads, and its log goes on when it is read', async t => {
  const { writer, read } = fullPipe(t)
  const fleet = await startUnread(t, ['--log', 'json'], ['ignore', 'ignore', writer])
  await reloads(t, fleet)
  t.ok(await becomesTrue(() => read().includes('"event":"fleet.reloaded"')))
  const stopped = stops(t, fleet)
  t.ok(await becomesTrue(() => read().includes('"event":"fleet.stop"')))
  await stopped
  for (const line of read().split('\n').filter(line => line.startsWith('{'))) JSON.parse(line)
})

t.test('a socket on stderr that is not read, as of a journal service that hangs: the fleet starts, reloads and stops', async t => {
  const fleet = await startUnread(t, ['--log', 'pretty'], ['ignore', 'ignore', 'pipe'])
  fleet.child.stderr?.pause()
  await reloads(t, fleet)
  await stops(t, fleet)
})

t.test('a terminal that is stopped by ctrl-s: the fleet reloads and stops', { skip: lacking('script') }, async t => {
  const fleet = await startUnread(t, [], ['pipe', 'ignore', 'ignore'], ['script'])
  await fleet.events.until('worker.ready')
  fleet.child.stdin?.write('\x13')
  await reloads(t, fleet)
  await stops(t, fleet)
})

t.test('--output lines into a pipe that is not read: the worker waits, the primary stays small, and what is read later is whole', async t => {
  const { writer, read } = fullPipe(t)
  const fleet = await startUnread(t, ['--output', 'lines', '--log', 'silent'], ['ignore', writer, 'ignore'])
  const { port, events, pid } = fleet
  await events.until('worker.ready')
  const rssBytes = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  const before = rssBytes()
  for (let i = 0; i < 2; i++) t.match(await get(port, '/lines?n=5000&bytes=5000'), { status: 200 })
  await delay(1500) // for a primary that would read on
  t.ok(rssBytes() - before < 32e6, `${before} bytes before 50 MB, ${rssBytes()} then`)
  const whole = () => read().split('\n').filter(line => line.startsWith('{')).slice(0, -1)
  t.ok(await becomesTrue(() => whole().length > 500))
  for (const line of whole()) JSON.parse(line)
  await stops(t, fleet)
})

t.test('--output lines and --prefix: long lines of several workers do not mix, bytes are not changed, and the last lines come before the exit', async t => {
  const lines = async (/** @type {string[]} */ args, /** @type {string} */ mark) => {
    const out = fs.openSync(path.join(t.testdir({}), 'out'), 'w+')
    const port = await freePort()
    const child = spawn('/bin/sh', ['-c', '"$@" | cat >&3', 'sh', process.execPath, BIN, '-w', '2', ...QUICK, '--log', 'json', ...args, WRITES],
      { env: { ...process.env, PORT: String(port), LAST: '1000' }, stdio: ['ignore', 'ignore', 'pipe', out], detached: true })
    const events = new Events()
    require('node:readline').createInterface({ input: child.stderr }).on('line', text => events.push(JSON.parse(text)))
    const closed = once(child, 'close')
    await events.until('worker.ready', { count: 2 })
    const agents = await clientPerWorker(t, port, 2)
    await Promise.all([...agents.values()].map(agent => get(port, '/lines?n=100&bytes=9000', { agent })))
    for (const agent of agents.values()) await get(port, '/odd', { agent })
    process.kill((await events.until('fleet.start')).pid, 'SIGTERM')
    await closed
    const bytes = fs.readFileSync(path.join(t.testdirName, 'out'))
    const found = bytes.latin1Slice().split('\n').slice(0, -1)
    t.equal(bytes.at(-1), 10)
    const plain = found.map(line => mark ? line.replace(/^\[\d\] /, '') : line)
    t.ok(found.every((line, i) => mark === '' || line !== plain[i]))
    const odd = plain.filter(line => !line.startsWith('{'))
    t.same(odd, Array(2).fill(Buffer.concat([Buffer.from('a\rb\u2028c\r'), Buffer.from([0xff, 0xc3, 0x28, 0x0d])]).latin1Slice()))
    const parsed = plain.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
    t.equal(parsed.length, 2 * 100 + 2 * 1000)
  }
  await lines(['--output', 'lines'], '')
  await lines(['--prefix'], '[slot] ')
})

t.test('output without a newline passes through, and does not end the primary', async t => {
  const { port, child, events, exited } = await startCli(t, ['-w', '1', ...QUICK, '--output', 'lines', WRITES])
  await events.until('worker.ready')
  let bytes = 0
  child.stdout.on('data', chunk => { bytes += chunk.length })
  t.match(await get(port, '/endless?mb=50'), { status: 200 })
  t.ok(await becomesTrue(() => bytes > 48e6), `${bytes} bytes`)
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.equal(bytes, 50e6, 'the end comes last')
})

t.test('an app that does not start: its last lines come before the exit', async t => {
  const { code, stderr } = await runToEnd([process.execPath, BIN, '-w', '1', '--log', 'silent', '--prefix', WRITES], { env: { FAILS: '1', LAST: '2000' } })
  t.equal(code, 1)
  const lines = stderr.split('\n').filter(line => line.startsWith('[0] {'))
  t.ok(lines.length > 0 && lines.length % 2000 === 0, `${lines.length} lines`)
})

t.test('an app that does not start, with a pipe on stderr that is full: recycle exits all the same', async t => {
  const { writer } = fullPipe(t)
  const child = spawn(process.execPath, [BIN, '-w', '1', '--control', 'none', WRITES], { env: { ...process.env, FAILS: '1' }, stdio: ['ignore', 'ignore', writer] })
  t.teardown(() => child.kill('SIGKILL'))
  t.same(await once(child, 'exit'), [1, null])
})

t.test('output whose reader is gone is lost, and told once: requests are answered, a throw is one exception, and a new reader has what comes next', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'output-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const fifo = path.join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  const { O_NONBLOCK, O_WRONLY, O_RDONLY } = fs.constants
  const open = () => fs.openSync(fifo, O_RDONLY | O_NONBLOCK)
  let reader = open()
  const writer = fs.openSync(fifo, O_WRONLY)
  t.teardown(() => [reader, writer].forEach(fd => fs.closeSync(fd)))
  const fleet = await startUnread(t, ['--log', 'json'], ['ignore', writer, writer])
  const { port, events } = fleet
  await events.until('worker.ready')
  const told = (/** @type {string} */ stream) => events.lines.filter(line => line.warning === 'output-gone' && line.stream === stream)
  const lines = async (/** @type {number} */ requests) => {
    for (let i = 0; i < requests; i++) t.match(await get(port, '/lines?n=3&bytes=10'), { status: 200 })
  }
  fs.closeSync(reader)
  await lines(20)
  t.ok(await becomesTrue(() => told('stdout').length === 1))
  t.match(told('stdout')[0], { lost: 0, why: 'EPIPE' })
  reader = open()
  await lines(1)
  t.ok(await becomesTrue(() => told('stdout').length === 2))
  t.match(told('stdout')[1], { why: null })
  t.ok(told('stdout')[1].lost >= 20)
  t.ok(fs.readSync(reader, Buffer.alloc(1000)) > 0)

  fs.closeSync(reader)
  t.match(await get(port, '/throw'), { status: 500 })
  await reloads(t, fleet)
  t.match(told('stderr'), [{ lost: 0, why: 'EPIPE' }])
  t.equal(events.lines.filter(({ event }) => event === 'worker.exception').length, 1)
  reader = open()
  await stops(t, fleet)
})

t.test('what a logger writes to the descriptor itself, as pino does, is lost and told in the same way', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'output-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const fifo = path.join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  const { O_NONBLOCK, O_WRONLY, O_RDONLY } = fs.constants
  for (const why of ['ENOSPC', 'EPIPE']) {
    const open = () => fs.openSync(fifo, O_RDONLY | O_NONBLOCK)
    const first = open()
    const writer = why === 'EPIPE' ? fs.openSync(fifo, O_WRONLY) : fs.openSync('/dev/full', O_WRONLY)
    const fleet = await startUnread(t, [], ['ignore', writer, 'ignore'])
    const { port, events } = fleet
    const told = () => events.lines.filter(({ warning }) => warning === 'output-gone')
    await events.until('worker.ready')
    fs.closeSync(first)
    for (let i = 0; i < 3; i++) t.match(await get(port, '/descriptor'), { status: 200 })
    t.ok(await becomesTrue(() => told().length === 1))
    t.match(told(), [{ stream: 'stdout', lost: 0, why }])
    if (why === 'EPIPE') {
      const second = open()
      t.match(await get(port, '/descriptor'), { status: 200 })
      t.ok(await becomesTrue(() => told().length === 2))
      t.match(told()[1], { stream: 'stdout', lost: 9, why: null })
      t.ok(fs.readSync(second, Buffer.alloc(1000)) > 0)
      fs.closeSync(second)
    }
    t.same(events.all('worker.exception'), [])
    await stops(t, fleet)
    fs.closeSync(writer)
  }
})

t.test('SIGKILL of the primary through which workers write, by process.stdout.write(): requests in flight are answered, and no process is left', async t => {
  const { port, child, events, out } = await startCli(t, ['-w', '2', ...QUICK, '--output', 'lines', WRITES])
  await events.until('worker.ready', { count: 2 })
  const clients = await clientPerWorker(t, port, 2)
  const slow = [...clients.values()].map(agent => get(port, '/slow', { agent }))
  t.ok(await becomesTrue(() => new Set(out.map(line => JSON.parse(line).pid)).size === 2), 'each worker writes, with a request in flight')
  child.kill('SIGKILL')
  for (const answer of await Promise.all(slow)) t.match(answer, { status: 200 })
  t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
})
