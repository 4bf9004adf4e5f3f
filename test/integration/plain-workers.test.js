'use strict'

const fs = require('node:fs')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

t.test('--plain: workers load no addon, and a reload closes connections behind a response', async t => {
  const { port, events, supervisor } = await startFleet(t, 'plain.js', { plain: true, workers: 2 })
  const workers = events.all('worker.ready').map(({ pid }) => pid)
  t.equal(workers.length, 2)
  if (process.platform === 'linux') for (const pid of workers) t.notMatch(fs.readFileSync(`/proc/${pid}/maps`, 'utf8'), /\.node$/m)
  const load = new Load({ port, connections: 10, thinkMs: 20 })
  await load.after(20)
  await supervisor.reload()
  await load.after(20)
  const { failures, sockets } = await load.stop()
  t.same(failures, [])
  t.ok(sockets >= 20, `${sockets} sockets`)
  t.ok(events.all('recycled').every(({ cut, moved }) => cut === 0 && moved === 0))
})
