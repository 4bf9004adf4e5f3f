'use strict'

const { execFileSync, spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
require('../support/bare-children')
const { openJournal } = require('../../lib/journal/writer')

/** @param {string} file */
function linesOf (file) {
  return fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(text => JSON.parse(text))
}

/** Resolves once the file has the text. @param {string} file @param {(text: string) => boolean} isThere */
async function untilFile (file, isThere) {
  const deadline = Date.now() + 10_000
  while (!(fs.existsSync(file) && isThere(fs.readFileSync(file, 'utf8')))) {
    if (Date.now() > deadline) throw new Error(`${path.basename(file)} lacks it`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

t.test('lines are appended, one JSON object each', async t => {
  const file = path.join(t.testdir({ 'j.ndjson': '{"v":1,"event":"before"}\n' }), 'j.ndjson')
  const journal = openJournal(file)
  journal.write({ v: 1, event: 'a', text: 'two\nlines' })
  journal.write({ v: 1, event: 'b' })
  await journal.flush()
  t.same(linesOf(file), [{ v: 1, event: 'before' }, { v: 1, event: 'a', text: 'two\nlines' }, { v: 1, event: 'b' }])
})

t.test('the file exists at once, and lines written before it is open are not lost', async t => {
  const file = path.join(t.testdir({}), 'new.ndjson')
  const journal = openJournal(file)
  t.ok(fs.existsSync(file))
  for (let n = 0; n < 5000; n++) journal.write({ n, padding: 'x'.repeat(100) })
  await journal.flush()
  t.same(linesOf(file).map(line => line.n), Array.from({ length: 5000 }, (_, n) => n))
})

t.test('flush() of a journal without lines resolves', async t => {
  const file = path.join(t.testdir({}), 'empty.ndjson')
  await openJournal(file).flush()
  t.equal(fs.readFileSync(file, 'utf8'), '')
})

t.test('when the file is moved away, the lines that follow go to a new one, and none is lost', async t => {
  const file = path.join(t.testdir({}), 'j.ndjson')
  const journal = openJournal(file)
  let n = 0
  const writing = setInterval(() => journal.write({ n: n++ }), 2)
  t.teardown(() => clearInterval(writing))
  for (const rotated of [`${file}.1`, `${file}.2`]) {
    await untilFile(file, text => text.split('\n').length > 5)
    fs.renameSync(file, rotated)
    await untilFile(file, text => text.includes('\n'))
  }
  clearInterval(writing)
  await journal.flush()
  const [first, second, last] = [`${file}.1`, `${file}.2`, file].map(linesOf)
  for (const rotated of [first, second]) t.match(rotated.pop(), { event: 'journal.end', why: 'rotated' })
  for (const next of [second, last]) t.match(next.shift(), { event: 'journal.begin', why: 'rotated' })
  t.same([...first, ...second, ...last].map(line => line.n), Array.from({ length: n }, (_, i) => i))
})

t.test('when the file is deleted, the lines that follow go to a new one', async t => {
  const file = path.join(t.testdir({}), 'j.ndjson')
  const journal = openJournal(file)
  const writing = setInterval(() => journal.write({ a: 1 }), 20)
  t.teardown(() => clearInterval(writing))
  await untilFile(file, text => text.includes('\n'))
  fs.rmSync(file)
  await untilFile(file, text => text.includes('\n'))
  clearInterval(writing)
  await journal.flush()
  t.ok(linesOf(file).length > 0)
})

t.test('a path that cannot be written is refused before any worker starts', async t => {
  const folder = t.testdir({})
  t.throws(() => openJournal(path.join(folder, 'no', 'such', 'folder.ndjson')), { code: 'RECYCLE_JOURNAL', exitCode: 2, message: /folder\.ndjson cannot be written: ENOENT/ })
  t.throws(() => openJournal(folder), { code: 'RECYCLE_JOURNAL', message: /it is a folder, not a regular file$/ })
})

t.test('a device is refused, /dev/null is not', async t => {
  t.throws(() => openJournal('/dev/zero'), { code: 'RECYCLE_JOURNAL', message: /it is a device, not a regular file$/ })
  const journal = openJournal('/dev/null')
  journal.write({ a: 1 })
  await journal.flush()
})

/**
 * A process that writes a journal to /dev/stdout, and reports failures and its end on stderr.
 *
 * @param {any} t tap's
 * @param {number | 'pipe'} stdout
 */
function onStdout (t, stdout) {
  const program = `
    const { openJournal } = require(${JSON.stringify(path.join(__dirname, '../../lib/journal/writer'))})
    const journal = openJournal('/dev/stdout', why => console.error('trouble: ' + why))
    for (let n = 0; n < 2000; n++) journal.write({ n, padding: 'x'.repeat(100) })
    setTimeout(() => journal.flush().then(() => { console.error('flushed'); process.exit() }), 300)`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', stdout, 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  const said = /** @type {Promise<string>} */ (new Promise(resolve => {
    let text = ''
    child.stderr?.setEncoding('utf8').on('data', chunk => { text += chunk }).on('end', () => resolve(text))
  }))
  return { child, said }
}

t.test('a full disk is reported once, and delays neither the fleet nor its stop', { skip: !fs.existsSync('/dev/full') && 'there is no /dev/full' }, async t => {
  const full = fs.openSync('/dev/full', 'w')
  t.teardown(() => fs.closeSync(full))
  t.match(await onStdout(t, full).said, /^trouble: ENOSPC[^\n]*\ntrouble: its last 2000 lines are lost: ENOSPC[^\n]*\nflushed\n$/)
})

t.test('/dev/stdout may be a pipe', async t => {
  const { child, said } = onStdout(t, 'pipe')
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', chunk => { text += chunk })
  const closed = once(child, 'close') // its stderr may end before all of its stdout has been read
  t.equal(await said, 'flushed\n')
  await closed
  t.equal(text.split('\n').length, 2001)
})

t.test('/dev/stdout may be a file that other processes also write', async t => {
  const file = path.join(t.testdir({}), 'out')
  const fd = fs.openSync(file, 'w')
  t.teardown(() => fs.closeSync(fd))
  fs.writeSync(fd, '{"before":true}\n')
  t.equal(await onStdout(t, fd).said, 'flushed\n')
  t.equal(linesOf(file).length, 2001)
})

t.test('a socket or a pipe that is not read does not delay the stop of the fleet', async t => {
  const fifo = path.join(t.testdir({}), 'fifo')
  execFileSync('mkfifo', [fifo])
  const pipe = fs.openSync(fifo, 'r+') // a reader that does not read
  t.teardown(() => fs.closeSync(pipe))
  const all = [onStdout(t, pipe), onStdout(t, 'pipe')] // Node's pipe to a child is a pair of sockets
  all[1].child.stdout?.pause()
  for (const { said } of all) t.match(await said, /^(trouble: its last \d+ lines are lost\n)?flushed\n$/)
})

t.test('lines that a pipe has no room for, which is not read, are reported once, and told of until they are counted', async t => {
  const fifo = path.join(t.testdir({}), 'fifo')
  execFileSync('mkfifo', [fifo])
  const program = `
    const { openJournal } = require(${JSON.stringify(path.join(__dirname, '../../lib/journal/writer'))})
    const troubles = []
    const journal = openJournal('/dev/stdout', why => {
      troubles.push(why)
      journal.write({ v: 1, t: 99, event: 'fleet.warning', warning: 'journal', file: 'x'.repeat(1024 ** 2), why }) // as a fleet does
    })
    const before = journal.trouble()
    for (let t = 0; t < 20; t++) journal.write({ v: 1, t, event: 'a', padding: 'x'.repeat(1024 ** 2) })
    console.error(JSON.stringify([before, troubles, journal.trouble()]))
    process.exit()`
  const pipe = fs.openSync(fifo, 'r+') // a reader that does not read
  t.teardown(() => fs.closeSync(pipe))
  const { stderr } = spawnSync(process.execPath, ['-e', program], { stdio: ['ignore', pipe, 'pipe'], encoding: 'utf8' })
  const why = 'what has it open does not read it'
  t.same(JSON.parse(stderr), [null, [why], why])
})

t.test('a line behind one that a killed primary has not finished is a line of its own', async t => {
  const file = path.join(t.testdir({ 'j.ndjson': '{"v":1,"event":"wh' }), 'j.ndjson')
  const journal = openJournal(file)
  journal.write({ v: 1, t: 1, event: 'a' })
  await journal.flush()
  t.equal(fs.readFileSync(file, 'utf8'), '{"v":1,"event":"wh\n{"v":1,"t":1,"event":"a"}\n')
})

t.test('lines that a full disk has no room for are counted, when it has room again and at the end', { skip: !isMounter() && 'mounts a small file system, as root' }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
  t.teardown(() => {
    execFileSync('umount', ['-l', folder])
    fs.rmdirSync(folder)
  })
  const file = path.join(folder, 'j.ndjson')
  /** @type {string[]} */
  const troubles = []
  const journal = openJournal(file, why => troubles.push(why))
  const padding = 'x'.repeat(1024 ** 2)
  fs.writeFileSync(path.join(folder, 'other'), Buffer.alloc(900_000))
  for (let t = 0; t < 20; t++) {
    journal.write({ v: 1, t, event: 'a', padding }) // more than is kept in memory
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  t.match(troubles, [/^ENOSPC/])
  t.match(journal.trouble(), /^ENOSPC/)
  execFileSync('mount', ['-o', 'remount,size=100m', folder])
  journal.write({ v: 1, t: 20, event: 'b' }) // tries the disk
  await untilFile(file, text => text.split('\n').length > 10)
  journal.write({ v: 1, t: 21, event: 'c' })
  t.equal(journal.trouble(), null)
  await journal.flush()
  const lines = linesOf(file)
  const gaps = lines.filter(({ event }) => event === 'journal.gap')
  t.ok(gaps.length > 0)
  t.equal(gaps.reduce((sum, { lines }) => sum + lines, 0) + lines.length - gaps.length, 22, 'each line is there, or counted')
  t.match(gaps[0], { v: 1, from: Number, to: 19, why: /^ENOSPC/ })
  t.same(troubles.length, 1)
})

/** @returns {boolean} */
function isMounter () {
  return spawnSync('unshare', ['-m', 'true']).status === 0
}
