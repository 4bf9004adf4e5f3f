'use strict'

/** The verbs that look inside a worker: collections, heap snapshots, CPU profiles. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { FIXTURES } = require('../support/fleet')
const { controlRoom, shortFolder } = require('../support/control')
const { Load } = require('../support/load')

t.test('a fleet under load', async t => {
  const room = controlRoom(t)
  const folder = shortFolder(t)
  const { port } = await room.start(2, ['--name', 'api', path.join(FIXTURES, 'memory.js')])
  const load = new Load({ port, connections: 8 })
  t.teardown(() => load.stop())
  await load.after(20)

  await t.test('gc prints the memory before and after', async t => {
    t.match(await room.recycle(['gc', 'all']), {
      code: 0, stdout: 'api: 2 workers collected\n', stderr: /^(\S+ collected slot [01] \(\d+\): RSS \S+ MiB → \S+ MiB, heap \S+ MiB → \S+ MiB in \S+\n){2}$/
    })
    t.match(await room.call(['gc', '7']), { code: 2, stderr: /^recycle: the worker was given "7"; it takes all, a slot \(0, 1\)\n$/ })
  })

  await t.test('heapdump prints the file on stdout and the details on stderr', async t => {
    const file = path.join(folder, 'a.heapsnapshot')
    t.match(await room.call(['heapdump', '0', '--out', file]), { code: 0, stdout: `${file}\n`, stderr: /^slot 0 \(\d+\): \S+ MiB, written out of rotation in \S+, \d+ connections? moved\n$/ })
    t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).snapshot.node_count > 0)
    t.match(await room.call(['heapdump', '0', '--out', file]), { code: 2, stdout: '', stderr: `recycle: ${file} cannot be written: there is such a file already\n` })
    t.match(await room.call(['heapdump', 'all']), { code: 2, stdout: '', stderr: 'recycle: the worker was given "all"; it takes a slot (0, 1)\n' })
    for (const verb of ['heapdump', 'cpuprofile', 'leak']) t.match(await room.call([verb, '0', 'nobody']), { code: 2, stdout: '', stderr: /^recycle: there is no fleet named "nobody"/ }, 'the name of a fleet, as of the other commands')
    t.match(await room.call(['leak', '9']), { code: 2, stdout: '', stderr: /^recycle: the worker was given "9"; it takes a slot \(0, 1\)\n$/ }, 'nothing is announced that is refused')
    t.match(await room.call(['heapdump', '0', '--then', 'stop']), { code: 2, stdout: '', stderr: /Allowed choices are recycle/ })
    const second = path.join(folder, 'b.heapsnapshot')
    t.match(await room.call(['heapdump', '1', '--out', second, '--then', 'recycle']), { code: 0, stdout: `${second}\n`, stderr: /; replaced by \d+, 0 cut, \d+ moved\n$/ })
  })

  await t.test('cpuprofile prints the file', async t => {
    const file = path.join(folder, 'a.cpuprofile')
    t.match(await room.call(['cpuprofile', '1', '--duration', '200ms', '--out', file]), { code: 0, stdout: `${file}\n`, stderr: /^slot 1 \(\d+\): \S+ [KM]iB after \S+\n$/ })
    t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).nodes.length > 0)
    t.match(await room.call(['cpuprofile', '1', '--duration', '1h']), { code: 2, stderr: 'recycle: --duration was given "1h"; it takes a time of 1ms to 10m, such as 10s\n' })
    t.match(await room.call(['cpuprofile', '1', '--duration', '30']), { code: 2, stderr: 'recycle: --duration was given "30"; it takes a time with a unit: 30s for seconds, or 30ms for milliseconds\n' })
  })

  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(sockets, 8)
})

t.test('if it cannot be done, one sentence gives the reason, exit 1', async t => {
  const room = controlRoom(t)
  await room.start(1, ['--name', 'api', path.join(FIXTURES, 'memory.js')])
  t.match(await room.call(['gc', '0']), { code: 1, stdout: '', stderr: /recycle: the collection of slot 0 was not done: no other worker serves\n$/ })
  const file = path.join(shortFolder(t), 'a.heapsnapshot')
  t.match(await room.call(['heapdump', '0', '--out', file]), { code: 1, stdout: '', stderr: 'recycle: the heap snapshot of slot 0 was not done: no other worker serves\n' })
  t.equal(fs.existsSync(file), false)
})

t.test('a snapshot is written, and its worker cannot be replaced then: its file is printed all the same, exit 1', async t => {
  const room = controlRoom(t)
  const folder = shortFolder(t)
  const app = path.join(folder, 'app.js')
  fs.copyFileSync(path.join(FIXTURES, 'memory.js'), app)
  await room.start(2, ['--name', 'api', app])
  fs.writeFileSync(app, 'throw new Error("not now")')
  const file = path.join(folder, 'a.heapsnapshot')
  t.match(await room.call(['heapdump', '0', '--out', file, '--then', 'recycle']),
    { code: 1, stdout: `${file}\n`, stderr: /^recycle: the replacement of slot 0 did not become ready: it exited with code 1: Error: not now/ })
})
