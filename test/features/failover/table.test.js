'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { ROW_BYTES, readRow } = require('../../../lib/features/failover/row')
const { Table } = require('../../../lib/features/failover/table')

const { addon, missing } = loadAddon()

t.test('when the first bytes of a request came is noted by the clock that all processes share: as they are read, or as long ago as is said', { skip: missing ?? false }, async t => {
  const table = new Table(addon)
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = net.connect(server.address().port, '127.0.0.1')
  const [socket] = await once(server, 'connection')
  t.teardown(() => {
    note.end()
    client.destroy()
    socket.destroy()
    server.close()
  })
  const note = table.take(socket._handle.fd, 1)
  const noted = () => {
    const { place } = readRow(new DataView(addon.map(table.fd, 0, 4096), note.row * ROW_BYTES), 0)
    const bytes = Buffer.alloc(8)
    fs.readSync(table.fd, bytes, 0, 8, place)
    return bytes.readDoubleLE(0)
  }
  const now = () => Number(process.hrtime.bigint()) / 1e6
  note.begin(0, 0)
  const sentAt = now()
  client.write('GET')
  await once(socket, 'data')
  t.ok(noted() >= Math.floor(sentAt) && noted() <= now(), `${sentAt}, ${noted()}, ${now()}`)
  note.begin(0, 0, { bytes: Buffer.from('GET'), ageMs: 5000 })
  t.ok(noted() <= now() - 5000)
  const moments = Array.from({ length: 10 }, () => {
    note.begin(0, 0, { bytes: Buffer.from('GET') })
    return noted()
  })
  t.same(moments, [...new Set(moments)].sort((a, b) => a - b), 'no two of one moment')
})
