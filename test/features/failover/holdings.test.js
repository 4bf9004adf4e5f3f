'use strict'

const fs = require('node:fs')
const t = require('tap')
const { loadAddon } = require('../../../lib/mold/addon')
const { Descriptor } = require('../../../lib/mold/descriptor')
const { Holdings } = require('../../../lib/features/failover/holdings')
const { Table } = require('../../../lib/features/failover/table')
const { decode, encode } = require('../../../lib/features/failover/packet')
const { parseHead, placeOf, HEAD_PREFIX, HEADS } = require('../../../lib/features/failover/row')

const { addon } = loadAddon()
const open = () => fs.openSync('/dev/null', 'r')
const isOpen = fd => { try { return fs.fstatSync(fd) !== null } catch { return false } }
const holdings = () => new Holdings({ fd: -1, close () {} })

t.test('what has ended is closed, whichever of its beginning and its end is heard first', async t => {
  const held = holdings()
  const [first, second, late] = [open(), open(), open()]
  held.begin({ row: 3, serial: 1 }, first, 'a', 5000)
  held.end(3, 1)
  t.equal(isOpen(first), false)
  held.end(3, 2)
  held.begin({ row: 3, serial: 2 }, late, 'a')
  t.equal(isOpen(late), false, 'it had ended')
  held.begin({ row: 3, serial: 3 }, second, 'a')
  held.end(3, 2)
  t.equal(isOpen(second), true, 'the end of an earlier one')
  t.equal(held.count, 1)
  held.end(3, 3)
  t.equal(held.count, 0)
})

t.test('a row that is used again closes what was there; rows beyond the most are not taken', async t => {
  const held = holdings()
  const [first, second, third] = [open(), open(), open()]
  held.begin({ row: 0, serial: 1 }, first, 'a')
  held.begin({ row: 0, serial: 2 }, second, 'a')
  t.same([isOpen(first), isOpen(second), held.count], [false, true, 1])
  held.begin({ row: 2 ** 18, serial: 3 }, third, 'a')
  held.end(2 ** 18, 3)
  t.same([isOpen(third), held.count], [false, 1])
  held.end(0, 2)
})

t.test('what a worker has noted is read by another process from its memory', { skip: addon === null }, async t => {
  const table = new Table(addon)
  const held = holdings()
  held.memory = new Descriptor(table.fd)
  const [a, b, c] = [table.take(), table.take(), table.take()]
  a.begin(100, 50)
  a.rest(200, 90, false)
  a.keep({ method: 'GET', url: '/x', version: '1.1', headers: ['Host', 'y'] })
  b.begin(10, 5, 1)
  c.begin(1, 1)
  const [ofA, ofB, ofC] = [open(), open(), open()]
  held.begin(a, ofA, 'key', 5000)
  held.begin(b, ofB, 'other')
  held.begin(c, ofC, 'key')
  c.end()
  const [first, second, ...more] = held.read()
  t.same(more, [])
  t.equal(isOpen(ofC), false, 'the worker had closed it')
  t.match(first, { fd: ofA, key: 'key', idleMs: 5000, row: { serial: a.serial, replayed: 0, latest: { read: 200, written: 90 }, other: { read: 100, written: 50 } } })
  t.match(second, { fd: ofB, key: 'other', idleMs: undefined, row: { replayed: 1 } })
  const { offset, length } = placeOf(first.row.latest.head)
  t.same(parseHead(held.readAt(offset, length).toString('latin1', HEAD_PREFIX)), { method: 'GET', url: '/x', version: '1.1', headers: ['Host', 'y'] })
  for (const fd of [ofA, ofB]) fs.closeSync(fd)
  held.close()
})

t.test('memory is used again, and grows by what is in use', { skip: addon === null }, async t => {
  const table = new Table(addon)
  const head = { method: 'GET', url: '/', version: '1.1', headers: ['cookie', 'x'.repeat(900)] }
  for (let i = 0; i < 5000; i++) {
    const note = table.take()
    note.begin(0, 0)
    note.keep(head)
    note.rest(1, 1, false)
    note.keep({ ...head, headers: ['cookie', 'x'.repeat(9000)] })
    note.end()
    table.free(note.row)
  }
  t.equal(table.bytes, 64 + HEADS[0].bytes + HEADS[1].bytes, 'of one connection, and of one head of each size')
  const note = table.take()
  note.begin(0, 0)
  note.keep({ ...head, headers: ['cookie', 'x'.repeat(20_000)] })
  t.equal(table.bytes, 64 + HEADS[0].bytes + HEADS[1].bytes, 'a longer one is not kept')
  const many = Array.from({ length: 3000 }, () => table.take())
  t.equal(new Set(many.map(({ row }) => row)).size, 3000)
  fs.closeSync(table.fd)
})

t.test('a packet that an app has written is none', async t => {
  const packet = { key: 'a', idleMs: null, begun: [1, 2], ended: [] }
  t.same(decode(encode(packet)), packet)
  for (const text of ['', 'x', 'null', '[]', '{"begun":[-1]}', '{"begun":["a"]}', '{"ended":{}}', '{"key":1}', '{"idleMs":-1}']) t.equal(decode(text), null, text)
})
