'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { Pack } = require('../../lib/native/pack')

/** @param {string} source @param {Partial<import('../../lib/native/pack').Key>} [key] @param {string | null} [code] */
const entry = (source, key = {}, code = null) =>
  ({ size: 10, changed: 1.5, ...key, source: Buffer.from(source), code: code === null ? null : Buffer.from(code) })

/** @param {Pack} pack @param {string} file @param {import('../../lib/native/pack').Key} [key] */
function textsOf (pack, file, key) {
  const found = pack.find(file, key)
  return found && [found.source.toString(), found.code?.toString() ?? null]
}

t.test('what was put in is found while the file has the same size and time of change', async t => {
  const file = path.join(t.testdir({}), 'pack')
  const empty = new Pack(file)
  t.equal(empty.find('/a.js'), null)
  empty.replace(new Map([['/a.js', entry('a → b', {}, 'code')], ['/b.js', entry('')]]))
  t.equal(fs.statSync(file).mode & 0o777, 0o600)
  const pack = new Pack(file)
  t.same(textsOf(pack, '/a.js', { size: 10, changed: 1.5 }), ['a → b', 'code'])
  t.same(textsOf(pack, '/b.js', { size: 10, changed: 1.5 }), ['', null])
  t.same(textsOf(pack, '/a.js'), ['a → b', 'code'])
  t.equal(pack.find('/a.js', { size: 11, changed: 1.5 }), null)
  t.equal(pack.find('/a.js', { size: 10, changed: 1.25 }), null)
  t.equal(pack.find('/c.js'), null)
})

t.test('files are put beside the others, and in the place of their former selves', async t => {
  const file = path.join(t.testdir({}), 'pack')
  new Pack(file).replace(new Map([['/a.js', entry('a', {}, '1')], ['/b.js', entry('b', {}, '22')], ['/c.js', entry('c')]]))
  const pack = new Pack(file)
  pack.replace(new Map([['/b.js', entry('new b', { size: 20 }, '333')], ['/d.js', entry('d')]]))
  t.same(textsOf(pack, '/b.js'), ['b', '22'], 'a pack that is open stays as it was')
  pack.close()
  t.equal(pack.find('/a.js'), null)
  const next = new Pack(file)
  t.same(textsOf(next, '/a.js', { size: 10, changed: 1.5 }), ['a', '1'])
  t.same(textsOf(next, '/b.js', { size: 20, changed: 1.5 }), ['new b', '333'])
  t.same([textsOf(next, '/c.js'), textsOf(next, '/d.js')], [['c', null], ['d', null]])
  t.same(fs.readdirSync(path.dirname(file)), ['pack'])
})

t.test('a pack that is damaged has none, or none of what is lost', async t => {
  const file = path.join(t.testdir({}), 'pack')
  new Pack(file).replace(new Map([['/a.js', entry('first', {}, 'code')], ['/b.js', entry('second', {}, 'code')]]))
  const whole = fs.readFileSync(file)
  for (let length = 0; length < whole.length; length++) {
    fs.writeFileSync(file, whole.subarray(0, length))
    const pack = new Pack(file)
    t.equal(pack.find('/b.js'), null, `${length} bytes`)
    const first = textsOf(pack, '/a.js')
    t.ok(first === null || first.join() === 'first,code')
    pack.close()
  }
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole)
    bytes[at] ^= 1
    fs.writeFileSync(file, bytes)
    const pack = new Pack(file)
    for (const [name, texts] of [['/a.js', 'first,code'], ['/b.js', 'second,code']]) {
      t.ok([undefined, texts].includes(textsOf(pack, name)?.join()), `byte ${at} is another`)
    }
    pack.close()
  }
  fs.writeFileSync(file, Buffer.alloc(100, 255))
  t.equal(new Pack(file).find('/a.js'), null, 'no pack at all')
})

t.test('one process at a time writes it; what one has left unfinished is given up after a minute', async t => {
  const file = path.join(t.testdir({}), 'pack')
  const files = new Map([['/a.js', entry('a')]])
  fs.writeFileSync(`${file}.new`, 'half')
  t.throws(() => new Pack(file).replace(files), { code: 'EEXIST' })
  t.notOk(fs.existsSync(file))
  const before = Date.now() / 1000 - 61
  fs.utimesSync(`${file}.new`, before, before)
  new Pack(file).replace(files)
  t.same(textsOf(new Pack(file), '/a.js'), ['a', null])
})
