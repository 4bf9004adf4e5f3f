'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { Descriptor } = require('../../../lib/native/descriptor')
const { Holdings } = require('../../../lib/features/failover/holdings')
const { Table } = require('../../../lib/features/failover/table')
const { decode, encode } = require('../../../lib/features/failover/packet')
const { ENDED_BY_CLIENT, readRow, PREFIX_BYTES, ROW_BYTES } = require('../../../lib/features/failover/row')

const { addon } = loadAddon()
const open = () => fs.openSync('/dev/null', 'r')
const isOpen = fd => { try { return fs.fstatSync(fd) !== null } catch { return false } }
const holdings = () => new Holdings({ fd: -1, close () {} })

t.test('what has ended is closed, and may begin again in its row; the end of an earlier one changes nothing', async t => {
  const held = holdings()
  const [first, second] = [open(), open()]
  held.begin({ row: 3, serial: 1 }, first, 'a', 5000)
  held.end(3, 1)
  t.equal(isOpen(first), false)
  held.begin({ row: 3, serial: 3 }, second, 'a')
  held.end(3, 7)
  t.equal(isOpen(second), true, 'the end of an earlier one')
  t.equal(held.count, 1)
  held.end(3, 3)
  t.equal(held.count, 0)
  const again = open()
  held.begin({ row: 3, serial: 3 }, again, 'a')
  t.same([isOpen(again), held.count], [true, 1])
  held.end(3, 3)
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

t.test('what a worker has noted and read is there for another process', { skip: addon === null }, async t => {
  const now = () => Number(process.hrtime.bigint()) / 1e6 // the clock that all processes share
  const began = now()
  const table = new Table(addon)
  t.equal(table.isKeeping, true)
  const server = net.createServer({ allowHalfOpen: true }).listen(0)
  const client = net.connect(server.address().port)
  const [socket] = await once(server, 'connection')
  const other = net.connect(server.address().port)
  const [second] = await once(server, 'connection')
  const held = holdings()
  held.memory = new Descriptor(table.fd)
  const a = table.take(socket._handle.fd, 1)
  const b = table.take(second._handle.fd, 2)
  a.begin(0, 0)
  b.begin(10, 5, { bytes: Buffer.from('before'), deaths: 1 })
  const readBy = async (socket, client, text) => { client.write(text); await once(socket, 'data') }
  await readBy(socket, client, 'first')
  a.rest(5, 50, false, false)
  await readBy(socket, client, 'GET /')
  await readBy(socket, client, 'x'.repeat(2000)) // in a larger place from here on
  await readBy(second, other, ' and after')
  const [ofA, ofB] = [open(), open()]
  held.begin(a, ofA, 'key', 5000)
  held.begin(b, ofB, 'other')
  const [first, last, ...more] = held.read()
  t.same(more, [])
  t.match(first, { socket: { fd: ofA }, key: 'key', idleMs: 5000, row: { serial: a.serial, deaths: 0, latest: { read: 5, written: 50 }, other: { read: 0, written: 0 }, kept: 2005 } })
  t.match(last, { socket: { fd: ofB }, key: 'other', idleMs: undefined, row: { deaths: 1 } })
  const keptOf = ({ row }, read = 0) => held.keptOf(row, { read, written: 0, state: 1 }).toString('latin1', PREFIX_BYTES)
  t.equal(keptOf(first), 'GET /' + 'x'.repeat(2000))
  t.equal(keptOf(last), 'before and after')
  t.equal(keptOf({ row: { ...first.row, kept: 5 } }, 2010), 'GET /' + 'x'.repeat(2000), 'it died as it read the last of it')
  const rowOf = ({ row }) => {
    const bytes = held.readAt(row * ROW_BYTES, ROW_BYTES)
    return readRow(new DataView(bytes.buffer, bytes.byteOffset, ROW_BYTES), 0)
  }
  const momentOf = note => held.readAt(rowOf(note).place, 8).readDoubleLE(0)
  t.ok(momentOf(a) >= Math.floor(began) && momentOf(a) <= now(), 'when its first bytes came')
  const given = table.take(client._handle.fd, 3)
  const moments = Array.from({ length: 10 }, () => {
    given.begin(0, 0, { bytes: Buffer.alloc(2000, 'x') })
    return momentOf(given)
  })
  t.same(moments, [...new Set(moments)].sort((a, b) => a - b), 'no two of one moment; of a long request, too')
  t.ok(moments[0] > momentOf(a) && moments[9] <= now() + 1)
  given.begin(0, 0, { bytes: Buffer.from('x'), ageMs: 5000 })
  t.ok(momentOf(given) <= now() - 4999, 'so long ago')
  given.end()
  table.free(given.row)
  const next = table.take(other._handle.fd, 4)
  t.equal(next.row, given.row)
  t.equal(next.read, null, 'nothing is left of the last connection of its row')
  t.same([a.read, b.read], [2010, 26])
  await readBy(socket, client, '\r\n\r\n')
  t.equal(a.read, 2014)
  const touched = table.sweep()
  a.rest(2010, 60, false, false)
  table.sweep()
  table.sweep() // idle for that long: its place is free
  for (let i = 0; i < 100; i++) {
    await readBy(socket, client, 'GET / ' + 'y'.repeat(3000))
    a.rest(2010, 60 + i, false, false)
  }
  t.equal(table.sweep(), touched, 'and used again')
  await readBy(socket, client, 'z'.repeat(60_000))
  const long = rowOf(a)
  t.ok(long.kept < -1000 && long.kept > -16_384, 'of what is too long, the beginning')
  t.match(keptOf({ row: long }), /^z+$/)
  for (const note of [a, b]) note.end()
  const [before] = addon.bytesOf(second._handle.fd)
  other.end()
  while (addon.bytesOf(second._handle.fd)[3] !== ENDED_BY_CLIENT) await delay(10)
  t.equal(addon.bytesOf(second._handle.fd)[0], before, "the end of the client's half is no byte")
  for (const one of [client, other, socket, second]) one.destroy()
  server.close()
  for (const fd of [ofA, ofB]) fs.closeSync(fd)
  held.close()
})

t.test('a row that the worker has ended, or that another connection has by now, is closed', { skip: addon === null }, async t => {
  const table = new Table(addon)
  const held = holdings()
  held.memory = new Descriptor(table.fd)
  const many = Array.from({ length: 3000 }, () => table.take(-1, 3))
  t.equal(new Set(many.map(({ row }) => row)).size, 3000)
  const [ended, reused] = many
  const [ofEnded, ofReused] = [open(), open()]
  for (const note of [ended, reused]) note.begin(0, 0)
  held.begin(ended, ofEnded, 'key')
  held.begin(reused, ofReused, 'key')
  ended.end()
  table.free(reused.row)
  table.take(-1, 4).begin(0, 0)
  t.same([...held.read()], [])
  t.same([isOpen(ofEnded), isOpen(ofReused)], [false, false])
  held.close()
})

t.test('of many servers each connection has its own', { skip: addon === null }, async t => {
  const table = new Table(addon)
  const held = holdings()
  held.memory = new Descriptor(table.fd)
  for (let i = 0; i < 600; i++) {
    const note = table.take(-1, 5)
    note.begin(0, 0)
    held.begin(note, open(), `server ${i % 300}`)
  }
  const keys = [...held.read()].map(({ key, socket }) => { socket.close(); return key })
  t.same(keys, Array.from({ length: 600 }, (_, i) => `server ${i % 300}`))
  held.close()
})

t.test('a packet that an app has written is none', async t => {
  const packet = { key: 'a', idleMs: null, begun: [1, 2], ended: [] }
  t.same(decode(encode(packet)), packet)
  for (const text of ['', 'x', 'null', '[]', '{"begun":[-1]}', '{"begun":["a"]}', '{"ended":{}}', '{"key":1}', '{"idleMs":-1}']) t.equal(decode(text), null, text)
})
