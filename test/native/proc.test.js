'use strict'

const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { STATE, inetSocket, inodeOfSocket, startOf, statFields, statOf, unixSockets } = require('../../lib/native/proc')

t.test('rows of the kernel\'s tables of sockets, and lines that are none', async t => {
  const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
  const tcp = '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 48151 1 0000000000000000 100 0 0 10 0'
  const tcp6 = '  12: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:D431 01 00000000:00000000 02:000A7214 00000000     0        0 62342 2 0000000000000000'
  t.same(inetSocket(tcp), { local: '0100007F:1F90', port: 8080, remote: '00000000:0000', state: STATE.listen, queued: 3, inode: '48151' })
  t.match(inetSocket(tcp6), { port: 8080, state: STATE.established, queued: 0, inode: '62342' })
  t.same([head, '', tcp.slice(0, 60)].map(inetSocket), [null, null, null])
  const unix = ['Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000000: 00000002 00000000 00010000 0001 01 24180 /run/my app/control',
    '0000000000000000: 00000003 00000000 00000000 0001 03 24181',
    '0000000000000000: 00000002 00000000 00010000 0001 01 24182 @abstract', ''].join('\n')
  t.same(unixSockets(unix), [{ inode: '24180', path: '/run/my app/control' }, { inode: '24181', path: null }, { inode: '24182', path: '@abstract' }])
  t.same(['socket:[24180]', 'pipe:[24180]', '/socket:[1]'].map(inodeOfSocket), ['24180', null, null])
  t.same(statFields('4711 (a) S (b) R 1 4711 4700 0').slice(0, 4), ['R', '1', '4711', '4700'])
})

t.test('they are those of this kernel', { skip: process.platform !== 'linux' && 'this needs /proc' }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle proc-'))
  const servers = [net.createServer(), net.createServer()]
  t.teardown(() => {
    for (const server of servers) server.close()
    fs.rmSync(folder, { recursive: true })
  })
  await new Promise(resolve => servers[0].listen(0, '127.0.0.1', () => resolve(undefined)))
  await new Promise(resolve => servers[1].listen(path.join(folder, 'socket'), () => resolve(undefined)))
  const [inet, unix] = servers.map(server => {
    const { fd } = /** @type {any} */ (server)._handle
    return inodeOfSocket(fs.readlinkSync(`/proc/self/fd/${fd}`))
  })
  const rows = fs.readFileSync('/proc/self/net/tcp', 'utf8').split('\n').map(inetSocket)
  const { port } = /** @type {net.AddressInfo} */ (servers[0].address())
  t.match(rows.find(row => row?.inode === inet), { port, state: STATE.listen })
  const named = unixSockets(fs.readFileSync('/proc/self/net/unix', 'utf8'))
  t.match(named.find(({ inode }) => inode === unix), { path: path.join(folder, 'socket') })
  const { isAlive, parent, startedAt } = statOf('self')
  t.same([isAlive, parent], [true, process.ppid])
  t.ok(startedAt >= Number(startOf(process.ppid)), 'ticks, as its parent has')
  t.equal(startOf(2 ** 22 + 1), null, 'no process has this pid')
})
