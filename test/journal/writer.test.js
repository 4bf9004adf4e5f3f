'use strict'

const { EventEmitter, once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { openJournal } = require('../../lib/journal/writer')

/** @param {string} file */
function linesOf (file) {
  return fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(text => JSON.parse(text))
}

/** Resolves once the file has what is looked for. @param {string} file @param {(text: string) => boolean} isThere */
async function untilFile (file, isThere) {
  const deadline = Date.now() + 10_000
  while (!(fs.existsSync(file) && isThere(fs.readFileSync(file, 'utf8')))) {
    if (Date.now() > deadline) throw new Error(`${path.basename(file)} never had it`)
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

t.test('the file is there at once, and what was written before it was open is not lost', async t => {
  const file = path.join(t.testdir({}), 'new.ndjson')
  const journal = openJournal(file)
  t.ok(fs.existsSync(file))
  for (let n = 0; n < 5000; n++) journal.write({ n, padding: 'x'.repeat(100) })
  await journal.flush()
  t.same(linesOf(file).map(line => line.n), Array.from({ length: 5000 }, (_, n) => n))
})

t.test('flushing a journal without lines ends', async t => {
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

t.test('a path that cannot be written is refused before anything starts', async t => {
  const folder = t.testdir({})
  t.throws(() => openJournal(path.join(folder, 'no', 'such', 'folder.ndjson')), { code: 'RECYCLE_JOURNAL', exitCode: 2, message: /folder\.ndjson cannot be written: ENOENT/ })
  t.throws(() => openJournal(folder), { code: 'RECYCLE_JOURNAL', message: /EISDIR/ })
})

t.test('a full disk is warned about, and holds up neither the fleet nor its end', { skip: !fs.existsSync('/dev/full') && 'there is no /dev/full' }, async t => {
  const warnings = new EventEmitter()
  const onWarning = (/** @type {Error} */ warning) => warnings.emit('warning', warning)
  process.on('warning', onWarning)
  t.teardown(() => process.removeListener('warning', onWarning))
  const warned = once(warnings, 'warning')
  const journal = openJournal('/dev/full')
  journal.write({ a: 1 })
  const [warning] = await warned
  t.match(warning.message, /the journal \/dev\/full cannot be written: ENOSPC/)
  const ended = await Promise.race([
    journal.flush().then(() => 'flushed'),
    new Promise(resolve => setTimeout(resolve, 5000, 'hangs'))
  ])
  t.equal(ended, 'flushed')
})
