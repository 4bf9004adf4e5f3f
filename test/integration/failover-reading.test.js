'use strict'

/** A worker that is killed in the call that reads a request. */

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { get } = require('../support/client')
const { startCli, FIXTURES } = require('../support/fleet')
const { compile, lacking } = require('../support/preloaded')

const COVERED_MS = 300
const skip = lacking || (loadAddon().addon === null && 'the addon is not there')

t.test('a head that a worker had read as it died is handled by another one', { skip }, async t => {
  const library = compile(t, 'dies-reading.cc')
  const dies = path.join(path.dirname(library), 'dies')
  const { port, events } = await startCli(t, ['-w', '2', '--schedule', 'shared', path.join(FIXTURES, 'heads.js')], { env: { LD_PRELOAD: library, DIES: dies } })
  await events.until('worker.ready', { count: 2 })
  for (const bytes of [500, 1100, 3000, 12_000]) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    await get(port, '/', { agent })
    await delay(COVERED_MS)
    fs.writeFileSync(dies, '')
    const ready = events.all('worker.ready').length
    const text = Array.from({ length: bytes / 10 }, (_, i) => String(i).padStart(10, '.')).join('')
    const answer = await get(port, '/', { agent, headers: { 'x-text': text } })
    t.match(answer, { status: 200, reused: true }, `${bytes} bytes`)
    t.ok(answer.body.includes(text), 'and all of it')
    t.equal(fs.existsSync(dies), false)
    t.match(events.all('worker.crash').at(-1), { signal: 'SIGKILL', replayed: 0, answered: 0, cut: 0 }, 'no app had seen it')
    await events.until('worker.ready', { count: ready + 1 })
  }
})
