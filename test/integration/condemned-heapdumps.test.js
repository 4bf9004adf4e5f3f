'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { clientOf, pidOf } = require('../support/memory')
const { RawClient, head } = require('../support/raw-client')

const OPTIONS = { onCondemn: 'heapdump', maxRss: '128MiB', hardRss: '1GiB', jitter: '0' }

/** @param {any} t tap's @returns {string} a folder that does not exist yet */
function folderFor (t) {
  const above = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-heapdumps-'))
  t.teardown(() => fs.rmSync(above, { recursive: true }))
  return path.join(above, 'heapdumps')
}

const RECYCLED = ['worker.spawn', 'worker.ready', 'worker.condemn', 'worker.drain', 'worker.retire', 'recycled']

t.test('a worker condemned for its memory writes a heap snapshot out of rotation, is recycled, and nothing is dropped', async t => {
  const heapdumpDir = folderFor(t)
  const { port, supervisor, events } = await startFleet(t, 'memory.js', { ...OPTIONS, heapdumpDir, workers: 3 })
  t.match(supervisor.status().heapdumps, {
    folder: heapdumpDir, perDay: 1, isDue: true, usedBytes: 0, limitBytes: 4 * 1024 ** 3, latest: null
  })
  const load = new Load({ port, connections: 8 })
  const client = await RawClient.connect(port)
  await events.allSampled(supervisor)
  const pid = pidOf(await client.fetch('/keep?mb=120'))
  const { file, bytes, ...line } = await events.until('heapdump')
  t.match(line, { pid, reason: 'rss' })
  t.match(await events.until('recycled'), { oldPid: pid, reason: 'rss', cut: 0 })
  t.strictSame(events.lifeOf(pid), ['worker.spawn', 'worker.ready', 'worker.condemn', 'worker.out-of-rotation', 'worker.in-rotation', 'heapdump', 'worker.drain', 'worker.retire', 'recycled'])
  t.equal(path.dirname(file), heapdumpDir)
  t.equal(fs.statSync(file).size, bytes)
  t.equal(fs.statSync(file).mode & 0o777, 0o600)
  t.equal(fs.statSync(heapdumpDir).mode & 0o777, 0o700)
  t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).snapshot.node_count > 1000)
  t.match(supervisor.status().heapdumps, { isDue: false, usedBytes: bytes, latest: file })

  await events.allSampled(supervisor)
  const second = pidOf(await client.fetch('/keep?mb=120'))
  t.match(await events.until('recycled', { count: 2 }), { oldPid: second, reason: 'rss', cut: 0 })
  const life = events.lifeOf(second) // perhaps it has replaced the first
  t.strictSame(life.slice(life.indexOf('worker.condemn')), RECYCLED.slice(2), 'one a day')
  t.equal(fs.readdirSync(heapdumpDir).length, 1)
  await client.close()
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(sockets, 8, 'no client ever reconnected')
})

t.test('where there is no room, or the folder is not private, the worker is recycled at once, and the journal says why', async t => {
  const heapdumpDir = folderFor(t)
  const { port, events } = await startFleet(t, 'memory.js', { ...OPTIONS, onCondemn: 'heapdump:5', heapdumpDir, heapdumpLimit: '100MiB' })
  const client = await RawClient.connect(port)
  const pid = pidOf(await client.fetch('/keep?mb=120'))
  await events.until('recycled')
  t.strictSame(events.lifeOf(pid).filter(event => event !== 'fleet.warning'), RECYCLED)
  // Not of a worker that is over its budget at its first sample
  const warnings = () => events.all('fleet.warning').filter(({ warning }) => warning === 'heapdump')
  t.match(warnings(), [{ pid, folder: heapdumpDir, why: /limit of the folder/ }])
  fs.chmodSync(heapdumpDir, 0o777)
  await client.fetch('/keep?mb=120')
  await events.until('recycled', { count: 2 })
  t.equal(warnings().length, 1, 'it is said once')
  t.same(fs.readdirSync(heapdumpDir), [])
  await client.close()
})

t.test('a worker that cannot leave rotation, or is over its hard budget, is recycled without a snapshot', async t => {
  const heapdumpDir = folderFor(t)
  const { port, events } = await startFleet(t, 'memory.js', { ...OPTIONS, hardRss: '512MiB', onCondemn: 'heapdump:5', heapdumpDir })
  const raw = await RawClient.connect(port)
  raw.send(head('GET', '/', 'Connection: Upgrade', 'Upgrade: echo'))
  const pid = pidOf((await raw.received(1))[0])
  const client = await clientOf(t, port, pid)
  await client.fetch('/keep?mb=120')
  t.match(await events.until('recycled'), { oldPid: pid, reason: 'rss', cut: 0 })
  t.match(events.all('worker.in-rotation'), [{ pid, moved: 0, why: /upgraded or raw/ }])
  t.same(fs.readdirSync(heapdumpDir), [])
  await raw.ended()
  await raw.close()
  const other = await RawClient.connect(port)
  const large = pidOf(await other.fetch('/keep?mb=600'))
  // A sample while it allocates may condemn it before
  t.match(await events.until('recycled', { count: 2 }), { oldPid: large, reason: /rss/, cut: 0 })
  t.same(fs.readdirSync(heapdumpDir), [])
  await other.close()
})

t.test('a folder that other users may write to is refused at the start', async t => {
  const heapdumpDir = folderFor(t)
  fs.mkdirSync(heapdumpDir)
  fs.chmodSync(heapdumpDir, 0o777)
  const { supervise } = require('../..')
  const app = path.join(__dirname, '..', 'fixtures', 'plain.js')
  t.throws(() => supervise({ app, onCondemn: 'heapdump', heapdumpDir }), { code: 'RECYCLE_UNWRITABLE', message: /other users may write to/ })
})
