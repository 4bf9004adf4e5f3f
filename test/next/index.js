'use strict'

/**
 * npm run test:next: Next.js's standalone output, spawned and forked, under load; each worker is replaced, nothing is
 * dropped. It is not of the suite, since Next.js takes 340 MB. On all Nodes: npm run test:matrix -- test/next/index.js
 */

const path = require('node:path')
const t = require('tap')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { get } = require('../support/client')
const { Load } = require('../support/load')
const { skip } = require('../support/mold')
const { build } = require('./build')

const OUT = build()
const PATHS = ['/', '/rendered', '/route']
process.env.KEEP_ALIVE_TIMEOUT = '60000' // of server.js: no client reconnects on a busy machine
t.setTimeout(600_000) // it says nothing of speed
process.env.HOSTNAME = '127.0.0.1' // where server.js listens; a shell may have the machine's name in it

for (const [file, options] of Object.entries({ 'server.js': { fork: 'mold' }, 'prepared.js': { fork: 'mold', warm: 100 }, 'server.js ': {} })) {
  t.test(`${file.trim()}, ${JSON.stringify(options)}`, { skip: 'fork' in options && skip }, async t => {
    const { port, supervisor, events } = await startFleet(t, path.join(OUT, file.trim()), { workers: 2, ...options })
    const loads = PATHS.flatMap(path =>
      [true, false].map(keepAlive => new Load({ port, path, connections: 3, keepAlive })))
    t.teardown(() => Promise.all(loads.map(load => load.stop())))
    for (const load of loads) await load.after(10)
    for (const slot of [0, 1, 0, 1]) await supervisor.recycle(slot)
    await supervisor.reload()
    for (const load of loads) {
      const { requests, failures } = await load.stop()
      t.same(failures, [], `of ${requests} requests`)
      if (load.keepsAlive) t.equal(load.sockets, load.clients.length, 'no client ever reconnected')
    }
    const recycled = events.all('recycled')
    t.equal(recycled.length, 6)
    for (const line of recycled) {
      t.match(line, { cut: 0, lost: false })
      t.equal(sumOfEnds(line), line.connections)
    }
    t.same([...events.all('worker.crash'), ...events.all('fleet.warning')], [])
    const told = []
    for (let i = 0; i < 20; i++) told.push(JSON.parse((await get(port, '/route')).body))
    t.equal(new Set(told.map(({ random }) => random)).size, told.length, 'no random value comes twice')
    t.equal(new Set(told.map(({ pid }) => pid)).size, 2, 'each worker has its own pid')
    t.comment(`ready in ${events.all('worker.ready').slice(2).map(({ readyMs }) => readyMs)} ms`)
  })
}
