'use strict'

/** Sticky sessions behind nginx with upstream keep-alive: each of its connections has the requests of many sessions. */

const t = require('tap')
const { startNginx } = require('../../bench/support/nginx')
const { startFleet } = require('../support/fleet')
const { RawClient } = require('../support/raw-client')
const { lacking } = require('../support/program')

t.setTimeout(90_000)

t.test('each request reaches its session, also while workers are replaced', { skip: lacking('nginx') }, async t => {
  process.env.TRANSFER = '1'
  t.teardown(() => { delete process.env.TRANSFER })
  const { port, supervisor } = await startFleet(t, 'sessions.js', { workers: 3, sticky: 'cookie:sid' })
  const nginx = await startNginx(port)
  const stopped = new AbortController()
  const users = Array.from({ length: 20 }, async () => {
    const client = await RawClient.connect(nginx.port)
    const { sid } = JSON.parse(String((await client.fetch('/login')).body))
    let count = 0
    const wrong = []
    while (!stopped.signal.aborted) {
      const { status, body } = await client.fetch('/', `Cookie: sid=${sid}`)
      if (status !== 200 || JSON.parse(String(body)).count !== ++count) wrong.push(`${status} ${body}`)
      client.responses.length = 0
    }
    await client.close()
    return { count, wrong }
  })
  for (let i = 0; i < 3; i++) t.match(await supervisor.recycle(i), { cut: 0, unacked: 0, unaccounted: 0 })
  stopped.abort()
  const results = await Promise.all(users)
  t.same(results.flatMap(({ wrong }) => wrong), [])
  t.ok(results.every(({ count }) => count > 0))
  t.same(await nginx.stop(), {}, 'nginx has logged no error')
  t.comment(`${results.reduce((sum, { count }) => sum + count, 0)} requests; ${JSON.stringify(supervisor.status().totals)}`)
})
