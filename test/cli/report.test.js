'use strict'

const { execFile, execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const t = require('tap')
const { call } = require('../support/calls')
const { BIN } = require('../support/fleet')
const { lacking } = require('../support/program')
const { fleetStart, recycle, clientStart, clientEnd, drop, tick, cut, line, ndjson } = require('../tools/report/written')

const STOP = line(2100, 'fleet.stop', { recycles: 1, failure: null })
const CLEAN = [
  fleetStart(), clientStart(), tick(0, [[1, 10]]), ...recycle(1000), tick(1000, [[2, 10]]), clientEnd(2000, 20, 0), STOP
]
const DROPPED = [...CLEAN, drop(1100)]

/** @param {string[]} args */
const report = (...args) => call(['report', ...args])

/**
 * In a process of its own.
 *
 * @param {string[]} args
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
function reportAlone (...args) {
  return new Promise(resolve => execFile(process.execPath, [BIN, 'report', ...args], { maxBuffer: 1e8, timeout: 20_000 }, (error, stdout, stderr) =>
    resolve({ code: error ? error.code : 0, stdout, stderr })))
}

/** Writes journal files for a test. */
function files (t, contents) {
  const folder = t.testdir(contents)
  return name => path.join(folder, name)
}

t.test('it exits 0 when nothing was dropped, and prints that first', async t => {
  const file = files(t, { 'run.ndjson': ndjson(CLEAN) })
  const { code, stdout, stderr } = await reportAlone(file('run.ndjson'))
  t.equal(code, 0)
  t.equal(stdout.split('\n')[0], '0 dropped of 20 requests over 1 recycle')
  t.equal(stderr, '')
  t.notMatch(stdout, '\x1b', 'no colours into a pipe')
})

t.test('it exits 1 when something was dropped, or cut', async t => {
  const file = files(t, { dropped: ndjson(DROPPED), cut: ndjson([...recycle(0, { cut: 1, cuts: [cut(1)] }), STOP]) })
  t.match(await reportAlone(file('dropped')), { code: 1, stdout: /^1 dropped of 20 requests/ })
  t.match(await report(file('cut')), { code: 1, stdout: /^1 cut over 1 recycle\n/ })
  t.match(await report('--json', file('cut')), { code: 1 })
})

t.test('an unreadable file gives one sentence and exit code 2', async t => {
  const file = files(t, {
    junk: Buffer.from([1, 2, 3, 10, 255, 254]).toString('latin1'),
    empty: '',
    newer: '{"v":2,"t":1,"event":"fleet.start"}\n',
    bad: Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    folder: {},
    fine: ndjson(CLEAN)
  })
  for (const [name, why] of Object.entries({ junk: 'it has no journal line: recycle --journal <file> writes them', empty: 'it is empty', newer: 'version', bad: 'invalid block type', folder: 'it is a folder, not a regular file', missing: 'no such file' })) {
    const { code, stdout, stderr } = await report(file(name))
    t.equal(code, 2, name)
    t.match(stderr, /^recycle: \S+ cannot be read: [^\n]+\n$/, name)
    t.match(stderr, why)
    t.equal(stdout, '')
  }
  t.match(await report(file('fine'), file('junk')), { code: 2 }, 'one bad file among good ones is not ignored')
  t.match(await reportAlone(), { code: 2, stderr: /file/ })
})

t.test('a FIFO is refused, and not waited for', async t => {
  const file = files(t, { fine: ndjson(CLEAN) })
  execFileSync('mkfifo', [file('fifo')])
  for (const args of [[file('fifo')], [file('fine'), file('fifo')], ['/dev/null']]) {
    const { code, stdout, stderr } = await reportAlone(...args)
    t.match({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, new RegExp(`^recycle: ${args.at(-1)} cannot be read: it is a (FIFO|device), not a regular file\n$`))
  }
})

t.test('a pipe that the command was started with is read: standard input, a process substitution', { skip: lacking('bash') }, async t => {
  const file = files(t, { 'run.ndjson': ndjson(CLEAN), 'run.ndjson.gz': zlib.gzipSync(ndjson(CLEAN)) })
  const { stdout: whole } = await report('--json', file('run.ndjson'))
  const command = `'${process.execPath}' '${BIN}' report --json`
  for (const shell of [
    `cat '${file('run.ndjson')}' | ${command} /dev/stdin`,
    `cat '${file('run.ndjson')}' | ${command} /dev/fd/0`,
    `${command} <(gzip -dc '${file('run.ndjson.gz')}')`,
    `${command} <(cat '${file('run.ndjson.gz')}')`
  ]) t.equal(execFileSync('bash', ['-c', shell], { encoding: 'utf8' }), whole, shell)
})

t.test('rotated, compressed, truncated files in any order give the same report', async t => {
  const lines = ndjson([...CLEAN, { v: 1, t: 1, event: 'something.new' }, { v: 9, t: 1, event: 'recycled' }])
  const half = lines.indexOf('\n', lines.length / 2) + 1
  const file = files(t, {
    'run.ndjson': lines,
    'journal.ndjson': `${lines.slice(half)}{"v":1,"t":17988`,
    'journal.ndjson.1': zlib.gzipSync(lines.slice(0, half)),
    'journal.ndjson.0': ''
  })
  const whole = JSON.parse((await report('--json', file('run.ndjson'))).stdout)
  t.equal(whole.skippedLines, 1)
  for (const order of [['.0', '', '.1'], ['.1', '.0', ''], ['', '', '.1', '.1']]) {
    const { stdout } = await report('--json', ...order.map(end => file(`journal.ndjson${end}`)))
    t.same(JSON.parse(stdout), { ...whole, skippedLines: 2 }, order.join())
  }
})

t.test('--json prints one object and nothing else', async t => {
  const file = files(t, { 'run.ndjson': ndjson(DROPPED) })
  const { stdout, stderr } = await report(file('run.ndjson'), '--json')
  t.equal(stdout.indexOf('\n'), stdout.length - 1)
  t.match(JSON.parse(stdout), { v: 1, dropped: 1, drops: [{ error: 'reset', phase: 'drain', recycle: 1 }] })
  t.equal(stderr, '')
})

t.test('--html writes the page beside the report', async t => {
  const file = files(t, { 'run.ndjson': ndjson(CLEAN) })
  const { code, stdout } = await report(file('run.ndjson'), '--html', file('page.html'))
  t.equal(code, 0)
  t.match(stdout, 'page.html')
  const page = fs.readFileSync(file('page.html'), 'utf8')
  t.match(page, /^<!doctype html>/)
  t.notMatch(page, /(src|href)=/, 'the page refers to no other file or address')
  const { stdout: json } = await report(file('run.ndjson'), '--json', '--html', file('page.html'))
  t.equal(JSON.parse(json).dropped, 0)
  t.match(await report(file('run.ndjson'), '--html', file('no/such/folder.html')), { code: 2, stderr: /^recycle: --html .*\n$/ })
})

t.test('a terminal gets colours, unless NO_COLOR is set', { skip: lacking('script') }, async t => {
  const file = files(t, { 'run.ndjson': ndjson(DROPPED) })
  const onTerminal = env => new Promise(resolve => {
    const command = `'${process.execPath}' '${BIN}' report '${file('run.ndjson')}'`
    const { FORCE_COLOR, NO_COLOR, CI, ...rest } = process.env // A user's terminal has none of these.
    execFile('script', ['-qec', command, '/dev/null'], { env: { ...rest, TERM: 'xterm-256color', ...env } }, (error, stdout) => resolve({ code: error?.code, stdout }))
  })
  t.match(await onTerminal({}), { code: 1, stdout: /^\x1b\[1m\x1b\[31m1 dropped/ }) // eslint-disable-line no-control-regex
  t.match(await onTerminal({ NO_COLOR: '1' }), { code: 1, stdout: /^1 dropped/ })
})

t.test('a closed output pipe is no error', async t => {
  const many = Array.from({ length: 3000 }, (_, i) => recycle(i * 1000, { oldPid: i, pid: i + 1 })).flat()
  const file = files(t, { 'run.ndjson': ndjson([...many, line(4e6, 'fleet.stop', { recycles: 3000 })]) })
  const child = spawn(process.execPath, [BIN, 'report', file('run.ndjson')], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', text => { stderr += text })
  child.stdout.once('data', () => child.stdout.destroy())
  t.equal(await new Promise(resolve => child.once('close', resolve)), 0)
  t.equal(stderr, '')
})
