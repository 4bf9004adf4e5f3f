'use strict'

const t = require('tap')
const { surviveRecycles, startApp, endure } = require('./under-load')
const { StreamLoad } = require('./stream-load')

const SESSIONS = 3

t.test('HTTPS, keep-alive, drains by Connection: close and drops nothing', async t => {
  const { events } = await surviveRecycles(t, 'https.js', { load: { https: { rejectUnauthorized: false } } })
  const recycles = events.all('recycled')
  t.ok(recycles.some(line => line.closedAfterResponse > 0))
  t.ok(recycles.every(line => line.moved === 0))
})

t.test('HTTPS, a connection per request, drops nothing', t =>
  surviveRecycles(t, 'https.js', { load: { https: { rejectUnauthorized: false }, keepAlive: false } }))

for (const [protocol, args] of /** @type {const} */ ([
  ['http', []],
  ['https', ['--tls']]
])) {
  t.test(`HTTP/2, ${args.length ? 'h2 over TLS' : 'h2c'}, says GOAWAY and drops nothing`, async t => {
    const fleet = await startApp(t, 'http2.js', { args: [...args] })
    const load = new StreamLoad(`${protocol}://127.0.0.1:${fleet.port}`, { sessions: SESSIONS, streams: 2 })
    await endure(t, fleet, [load])
    t.ok(load.sessions > SESSIONS, 'clients opened new sessions')
  })
}
