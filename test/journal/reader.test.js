'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { readJournal } = require('../../lib')
const { openJournal } = require('../../lib/journal/writer')

/** @param {string} file */
async function read (file) {
  const lines = []
  for await (const line of readJournal(file)) lines.push(line)
  return lines
}

t.test('the lines of the writer are read, in order', async t => {
  const file = path.join(t.testdir({}), 'j.ndjson')
  const lines = Array.from({ length: 3000 }, (_, n) => ({ v: 1, t: n, event: 'worker.sample', text: `${n} – \u2028 "quoted"\n` }))
  const journal = openJournal(file)
  for (const line of lines) journal.write(line)
  await journal.flush()
  t.same(await read(file), lines)
})

t.test('an incomplete last line is skipped, wherever it ends', async t => {
  const whole = '{"v":1,"event":"a"}\n{"v":1,"event":"b","text":"ü"}\n'
  const bytes = Buffer.from(whole)
  const file = path.join(t.testdir({}), 'j.ndjson')
  for (let length = 0; length <= bytes.length; length++) {
    fs.writeFileSync(file, bytes.subarray(0, length))
    const events = (await read(file)).map(line => line.event)
    const expected = length >= bytes.length - 1 ? ['a', 'b'] : length >= 19 ? ['a'] : []
    t.same(events, expected, `${length} bytes of ${bytes.length}`)
  }
})

t.test('blank lines, with LF or CRLF, are skipped', async t => {
  const line = '{"v":1,"event":"worker.sample","text":"of some length, as the lines of a journal are"}\n'
  // More than is read at once
  const folder = t.testdir({ blank: line + '\n'.repeat(1024 ** 2) + '\r\n'.repeat(1024 ** 2) + line })
  let count = 0
  for await (const one of readJournal(path.join(folder, 'blank'))) count += one.v
  t.equal(count, 2)
})

t.test('garbage, other versions and lines without an event are skipped', async t => {
  const file = path.join(t.testdir({
    'j.ndjson': [
      'garbage', 'null', '5', '"text"', '[]', '[1]', 'true', '{}', '', ' ', '\0\0\0',
      '{"v":2,"event":"future"}', '{"event":"no version"}', '{"v":"1","event":"text version"}', '{"v":1}', '{"v":1,"event":5}',
      '{"v":1,"event":"kept","extra":true}\r', '{"v":1,"event":"unknown.to.us"}'
    ].join('\n')
  }), 'j.ndjson')
  t.same(await read(file), [{ v: 1, event: 'kept', extra: true }, { v: 1, event: 'unknown.to.us' }])
})

t.test('an empty journal has no lines', async t => {
  t.same(await read(path.join(t.testdir({ 'j.ndjson': '' }), 'j.ndjson')), [])
})

t.test('a reader may stop early', async t => {
  const file = path.join(t.testdir({ 'j.ndjson': '{"v":1,"event":"a"}\n'.repeat(10_000) }), 'j.ndjson')
  const journal = readJournal(file)
  t.match(await journal.next(), { done: false, value: { event: 'a' } })
  await journal.return(undefined)
  t.match(await journal.next(), { done: true })
})

t.test('a missing file gives one sentence', async t => {
  const file = path.join(t.testdir({}), 'missing.ndjson')
  await t.rejects(read(file), { name: 'RecycleError', code: 'RECYCLE_UNREADABLE', exitCode: 2, message: /missing\.ndjson cannot be read: ENOENT/ })
})

t.test('and so does a folder', async t => {
  await t.rejects(read(t.testdir({})), { name: 'RecycleError', code: 'RECYCLE_UNREADABLE', exitCode: 2, message: /cannot be read: it is a folder, not a regular file/ })
})
