'use strict'

/** Apps of other kinds as forked workers: under load, each worker replaced, nothing dropped. */

const { once } = require('node:events')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const tls = require('node:tls')
const t = require('tap')
const { extent, longAlone } = require('../support/campaign')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { Load } = require('../support/load')
const { skip } = require('../support/mold')

const MODULES = 1000
const CONNECTIONS = extent({ short: 3, long: 5 }) // of each of two loads

/** @param {any} t @returns {string} an app of 1,000 modules */
function manyModules (t) {
  const files = Object.fromEntries(Array.from({ length: MODULES }, (_, i) => [`m${i}.js`, `exports.value = ${i}; exports.next = ${i + 1 < MODULES ? `() => require('./m${i + 1}')` : 'null'}`]))
  return path.join(t.testdir({
    ...files,
    'app.js': `let sum = 0
for (let i = 0; i < ${MODULES}; i++) sum += require('./m' + i).value
require('node:http').createServer((request, response) => response.end(String(sum))).listen(process.env.PORT)`
  }), 'app.js')
}

/** @param {any} t @returns {string} */
const largeTable = t => path.join(t.testdir({
  'app.js': `const table = new Map()
for (let id = 0; id < 50_000; id++) table.set(id, Array.from({ length: 100 }, (_, i) => id + i))
require('node:http').createServer((request, response) => response.end(String(table.get(7)[0]))).listen(process.env.PORT)`
}), 'app.js')

// Frameworks are in frameworks.test.js, too: here one is in the suite, which replaces two workers; others replace one.
for (const [what, app, isLong = false] of /** @type {[string, string | ((t: any) => string), boolean?][]} */ ([
  ['Express', 'apps/express.js'],
  ['Fastify', 'apps/fastify.js', true],
  ['Koa', 'apps/koa.js', true],
  ['NestJS', 'apps/nest.mjs', true],
  ['an ES module with top-level await', 'apps/top-level-await.mjs'],
  ['1,000 modules', manyModules],
  ['a large table', largeTable]
])) {
  t.test(what, { skip: skip || (isLong && longAlone('3')) }, async t => {
    const workers = app === 'apps/express.js' ? 2 : extent({ short: 1, long: 2 })
    const { port, supervisor, events } = await startFleet(t, typeof app === 'string' ? app : app(t), { fork: 'mold', warm: 50, workers })
    const loads = [true, false].map(keepAlive => new Load({ port, connections: CONNECTIONS, keepAlive }))
    await replaceAll(t, { supervisor, events }, loads, workers === 1 ? [0, 0] : [0, 1, 0, 1])
    t.equal(loads[0].sockets, loads[0].clients.length, 'no client ever reconnected')
  })
}

t.test('an app with TLS: a session that one worker began is resumed by the next', { skip }, async t => {
  const { port, supervisor, events } = await startFleet(t, 'apps/https.js', { fork: 'mold', warm: 50, workers: 1 })
  const { isReused, session, pid } = await handshake(port)
  t.notOk(isReused)
  const https = { rejectUnauthorized: false }
  await replaceAll(t, {
    supervisor, events
  }, [true, false].map(keepAlive => new Load({ port, connections: CONNECTIONS, keepAlive, https })), [0, 0])
  const second = await handshake(port, session)
  t.not(second.pid, pid)
  t.ok(second.isReused, 'all of them have the ticket keys of the first')
})

/** @param {number} port @param {Buffer} [session] of an earlier one */
async function handshake (port, session) {
  const socket = tls.connect({ port, host: '127.0.0.1', session, maxVersion: 'TLSv1.2', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const begun = { isReused: socket.isSessionReused(), session: socket.getSession() }
  socket.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const [, pid] = /secret of (\d+)/.exec(await text(socket))
  return { ...begun, pid }
}

/**
 * Under load each worker is replaced, twice.
 *
 * @param {any} t @param {{ supervisor: any, events: any }} fleet @param {Load[]} loads @param {number[]} slots
 */
async function replaceAll (t, { supervisor, events }, loads, slots) {
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (const load of loads) await load.after(20)
  for (const slot of slots) await supervisor.recycle(slot)
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
  }
  const recycled = events.all('recycled')
  t.equal(recycled.length, slots.length)
  for (const line of recycled) {
    t.match(line, { cut: 0, lost: false })
    t.equal(sumOfEnds(line), line.connections)
  }
  t.same([...events.all('worker.crash'), ...events.all('fleet.warning')], [])
}
