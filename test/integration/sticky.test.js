'use strict'

/** `--sticky`: the requests of a session reach the worker that has it. */

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { RawClient, head } = require('../support/raw-client')

t.setTimeout(90_000)

/** @param {any} response */
const said = response => ({ status: response.status, ...JSON.parse(response.body) })

/**
 * Sessions, each begun on a connection of its own.
 *
 * @param {number} port @param {number} count @param {string} [path]
 */
async function login (port, count, path = '/login') {
  return Promise.all(Array.from({ length: count }, async () => {
    const client = await RawClient.connect(port)
    const { sid, pid } = said(await client.fetch(path))
    await client.close()
    return { sid, pid }
  }))
}

/**
 * Each request reaches the worker that began its session, whatever connection it comes on.
 *
 * @param {any} t tap's @param {any} supervisor @param {number} port @param {(sid: string) => [string, ...string[]]} ask
 */
async function reachTheirs (t, supervisor, port, ask) {
  const sessions = await login(port, 20)
  // One worker may accept all of them, where the others do not run at that moment
  const isSole = () => sessions.every(({ pid }) => pid === sessions[0].pid)
  for (let i = 0; i < 50 && isSole(); i++) sessions.push(...await login(port, 1))
  t.ok(new Set(sessions.map(({ pid }) => pid)).size > 1, 'several workers have some')
  const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(port)))
  await Promise.all(clients.map(async (client, i) => {
    for (let n = 0; n < 12; n++) {
      const { sid, pid } = sessions[(i * 7 + n * 11) % sessions.length]
      t.match(said(await client.fetch(...ask(sid))), { status: 200, sid, pid })
    }
  }))
  t.equal(supervisor.status().totals.misplaced, 0)
  t.ok(clients.every(({ isEnded }) => !isEnded), 'on the same connections')
  for (const client of clients) await client.close()
}

const REACH = 'each request reaches the worker that began its session, whatever connection it comes on'

t.test('cookie:sid', async t => {
  const { port, supervisor } = await startFleet(t, 'sessions.js', { workers: 2, sticky: 'cookie:sid' })
  await t.test(REACH, t => reachTheirs(t, supervisor, port, sid => ['/', `Cookie: other=sid=x; sid=${sid}; last=1`]))

  await t.test('a body follows its head, whole or in parts, and so does what comes behind it', async t => {
    const sessions = await login(port, 6)
    for (const { sid, pid } of sessions) {
      const client = await RawClient.connect(port)
      const post = head('POST', '/', `Cookie: sid=${sid}`, 'Content-Length: 200000')
      for (const part of [post.slice(0, 30), post.slice(30) + 'x'.repeat(99_999), 'y'.repeat(100_001)]) {
        client.send(part)
        await new Promise(resolve => setTimeout(resolve, 3)) // for the parts to be read apart
      }
      t.match(said((await client.received(1))[0]), { status: 200, pid, bytes: 200_000, method: 'POST' })
      client.send(head('PUT', '/', `Cookie: sid=${sid}`, 'Transfer-Encoding: chunked') + '5\r\nhello\r\n0\r\n\r\n' + head('GET', '/', `Cookie: sid=${sid}`))
      const [, put, get] = await client.received(3)
      t.match(said(put), { status: 200, pid, bytes: 5 })
      t.match(said(get), { status: 200, pid })
      client.send(head('POST', '/', `Cookie: sid=${sid}`, 'Expect: 100-continue', 'Content-Length: 2'))
      t.equal((await client.received(4))[3].status, 100)
      client.send('ab')
      t.match(said((await client.received(5))[4]), { status: 200, pid, bytes: 2 })
      await client.close()
    }
  })
})

t.test('query:sid', async t => {
  const { port, supervisor } = await startFleet(t, 'sessions.js', { workers: 2, sticky: 'query:sid' })
  await t.test(REACH, t => reachTheirs(t, supervisor, port, sid => [`/?t=1&sid=${sid}`]))

  await t.test('an upgrade reaches the session\'s worker', async t => {
    for (const { sid, pid } of await login(port, 10)) {
      const client = await RawClient.connect(port)
      client.get(`/?sid=${sid}`, 'Connection: Upgrade', 'Upgrade: echo')
      const [{ status, headers }] = await client.received(1)
      t.match({ status, pid: Number(headers['x-pid']) }, { status: 101, pid })
      await client.close()
    }
  })
})

t.test('header:x-session', async t => {
  const { port, supervisor } = await startFleet(t, 'sessions.js', { workers: 2, sticky: 'header:x-session' })
  await t.test(REACH, t => reachTheirs(t, supervisor, port, sid => ['/', `X-Session: ${sid}`]))

  await t.test('own() has the same effect for sessions that no response shows; a session that no worker began has one owner', async t => {
    const sessions = await login(port, 20, '/login?own')
    const client = await RawClient.connect(port)
    for (const { sid, pid } of sessions) t.match(said(await client.fetch('/', `X-Session: ${sid}`)), { status: 200, pid })
    /** @type {Set<string>} */
    const slots = new Set()
    for (let i = 0; i < 20; i++) {
      const other = await RawClient.connect(port)
      const [here, there] = [said(await client.fetch('/', `X-Session: s${i}`)), said(await other.fetch('/', `X-Session: s${i}`))]
      t.equal(here.pid, there.pid)
      slots.add(here.slot)
      await other.close()
    }
    t.equal(slots.size, 2, 'the owners are all workers')
    const before = said(await client.fetch('/', 'X-Session: s3'))
    await supervisor.recycle(Number(before.slot))
    const after = said(await client.fetch('/', 'X-Session: s3'))
    t.equal(after.slot, before.slot, 'the slot owns it over a recycle')
    t.not(after.pid, before.pid)
    await client.close()
  })
})

t.test('by the client\'s address', async t => {
  const { port } = await startFleet(t, 'sessions.js', { workers: 2, sticky: 'ip' })
  const pids = await Promise.all(Array.from({ length: 12 }, async () => {
    const client = await RawClient.connect(port)
    const { pid } = said(await client.fetch('/'))
    await client.close()
    return pid
  }))
  t.equal(new Set(pids).size, 1)
})

t.test('the state of sessions is transferred when their worker is recycled, under load, and no request comes too early', async t => {
  process.env.TRANSFER = '1'
  t.teardown(() => { delete process.env.TRANSFER })
  const { port, supervisor, events } = await startFleet(t, 'sessions.js', { workers: 2, sticky: 'cookie:sid' })
  const stopped = new AbortController()
  const users = Array.from({ length: 16 }, async () => {
    const client = await RawClient.connect(port)
    const { sid } = said(await client.fetch('/login'))
    let count = 0
    const wrong = []
    while (!stopped.signal.aborted) {
      const got = said(await client.fetch('/', `Cookie: sid=${sid}`))
      if (got.status !== 200 || got.count !== ++count) wrong.push(got)
      client.responses.length = 0
      await new Promise(resolve => setTimeout(resolve, Math.random() * 200))
    }
    const { isEnded } = client
    await client.close()
    return { count, wrong, isEnded }
  })
  t.match(await supervisor.recycle(0), { cut: 0, unacked: 0, unaccounted: 0 })
  await supervisor.reload()
  stopped.abort()
  const results = await Promise.all(users)
  t.same(results.flatMap(({ wrong }) => wrong), [], 'each count goes on')
  t.ok(results.every(({ count, isEnded }) => count > 0 && !isEnded))
  t.comment(`${results.reduce((sum, { count }) => sum + count, 0)} requests; ${events.all('recycled').length} recycles; ${JSON.stringify(supervisor.status().totals)}`)
})
