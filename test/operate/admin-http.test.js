'use strict'

const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { Stream } = require('../../lib/operate/admin/stream')
const { FIXTURES, freePort } = require('../support/fleet')
const { get } = require('../support/client')
const { Load } = require('../support/load')
const { RawClient } = require('../support/raw-client')
const { becomesTrue, runToEnd } = require('../support/processes')
const { startAdmin } = require('../support/admin')

const CONNECTIONS = 64
const PAGES = 16

/**
 * One exchange, byte by byte; resolves with the bytes received when the server has closed or answered.
 *
 * @param {number} port @param {string} bytes
 */
async function say (port, bytes) {
  const client = await RawClient.connect(port)
  const [response] = await client.send(bytes).received(1)
  return { client, response }
}

t.test('no request disturbs the admin server, nor the fleet', async t => {
  const { port, adminPort, ask, supervisor, events } = await startAdmin(t, 'plain.js', { workers: 1 })

  await t.test('other methods', async t => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      const { client, response } = await say(adminPort, `${method} /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      t.match(response, { status: 405, headers: { allow: 'GET, HEAD' } }, method)
      await client.close()
    }
  })

  await t.test('other paths', async t => {
    for (const path of ['/nothing', '/metrics/', '//metrics', '/status.json', '/__proto__', '/constructor', '*', 'http://localhost/metrics']) {
      const { client, response } = await say(adminPort, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      t.equal(response.status, 404, path)
      await client.close()
    }
    t.equal((await ask('/readyz?verbose=1')).status, 200, 'a query changes nothing')
  })

  await t.test('bodies', async t => {
    for (const head of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
      const { client, response } = await say(adminPort, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`)
      t.match(response, { status: 413, headers: { connection: 'close' } }, head)
      await client.close()
    }
    const { client, response } = await say(adminPort, 'POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n')
    t.equal(response.status, 417)
    await client.close()
  })

  await t.test('huge heads', async t => {
    const { client, response } = await say(adminPort, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: ${'x'.repeat(20_000)}\r\n\r\n`)
    t.equal(response.status, 431)
    await client.ended()
  })

  await t.test('bytes that are not HTTP', async t => {
    const { client, response } = await say(adminPort, '\x16\x03\x01\x02\x00\x01\r\n\r\n')
    t.equal(response.status, 400)
    await client.ended()
  })

  await t.test('foreign host names that resolve to this address', async t => {
    for (const host of ['evil.example', 'evil.example:9100', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', '[::2]:80', 'local host']) {
      t.equal((await ask('/status', { headers: { host } })).status, 421, host)
    }
    for (const host of ['localhost', `localhost:${adminPort}`, 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.1.2.3:80', '[::1]:9100']) {
      t.equal((await ask('/status', { headers: { host } })).status, 200, host)
    }
    const { client, response } = await say(adminPort, 'GET /healthz HTTP/1.0\r\n\r\n')
    t.equal(response.status, 200, 'HTTP/1.0 has no Host header')
    await client.close()
    const nameless = await say(adminPort, 'GET /healthz HTTP/1.1\r\nHost:\r\n\r\n')
    t.equal(nameless.response.status, 421)
    await nameless.client.close()
  })

  await t.test('HEAD is GET without the body', async t => {
    for (const path of ['/', '/events', '/metrics', '/healthz', '/readyz', '/status']) {
      const request = http.request({ method: 'HEAD', port: adminPort, host: '127.0.0.1', path, agent: false }).end()
      const [response] = await once(request, 'response')
      let bytes = 0
      response.on('data', (/** @type {Buffer} */ chunk) => { bytes += chunk.length })
      await once(response, 'end')
      t.same([response.statusCode, bytes], [200, 0], path)
    }
  })

  await t.test('its responses are not cached, and not sniffed', async t => {
    for (const path of ['/', '/metrics', '/healthz', '/readyz', '/status', '/nothing']) {
      t.match((await ask(path)).headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, path)
    }
    const { headers } = await ask('/')
    t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';.*connect-src 'self'; frame-ancestors 'none'$/)
  })

  await t.test('clients that hold connections disturb neither the fleet nor, for long, the server', async t => {
    const load = new Load({ port, connections: 5 })
    const clients = await Promise.all(Array.from({ length: 2 * CONNECTIONS }, () => RawClient.connect(adminPort)))
    clients.forEach((client, i) => { if (i % 2) client.send('GET /healthz HTTP/1.1\r\nHost: local') })
    await load.after(50)
    // A client that sends nothing, or half a request, is closed within seconds, and there is room again.
    await Promise.all(clients.map(client => client.ended()))
    t.equal((await ask('/healthz')).status, 200)
    t.same((await load.stop()).failures, [])
  })

  await t.test('the number of live pages is limited', async t => {
    const pages = await Promise.all(Array.from({ length: PAGES }, async () => {
      const request = http.get({ port: adminPort, host: '127.0.0.1', path: '/events', agent: false })
      const [response] = await once(request, 'response')
      response.on('error', () => {})
      response.resume()
      return { request, response }
    }))
    t.ok(pages.every(({ response }) => response.statusCode === 200 && response.headers['content-type'] === 'text/event-stream'))
    t.match(await ask('/events'), { status: 503, body: 'too many pages are open\n' })
    pages[0].request.destroy()
    t.ok(await becomesTrueSoon(async () => {
      const request = http.get({ port: adminPort, host: '127.0.0.1', path: '/events', agent: false })
      const [response] = await once(request, 'response')
      response.on('error', () => {})
      request.destroy()
      return response.statusCode === 200
    }), 'when one page closes, another may connect')
    for (const { request } of pages) request.destroy()
  })

  await t.test('an error in it does not reach the fleet', async t => {
    const warned = once(process, 'warning')
    supervisor.announce('recycled', null) // no journal has such a line
    events.lines.pop()
    t.equal((await get(port)).status, 200)
    t.equal((await ask('/healthz')).status, 200)
    await supervisor.recycle(0)
    t.match((await warned)[0], Error)
  })
})

t.test('with --admin-allow-remote it answers for any host name', async t => {
  const { url, ask } = await startAdmin(t, 'plain.js', { workers: 1, admin: '0.0.0.0:0', adminAllowRemote: true })
  t.match(url, /^http:\/\/0\.0\.0\.0:\d+$/)
  t.equal((await ask('/status', { headers: { host: 'metrics.example' } })).status, 200)
})

/** @param {() => Promise<boolean>} isSo */
async function becomesTrueSoon (isSo) {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline;) {
    if (await isSo()) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

t.test('a page that does not read is closed, and the others continue', async t => {
  const stream = new Stream()
  const server = http.createServer((request, response) => stream.add(response, 'picture', {})).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const open = async () => {
    const request = http.get({ port, host: '127.0.0.1', agent: false })
    const [response] = await once(request, 'response')
    return response
  }
  const reading = await open()
  let bytes = 0
  reading.on('data', (/** @type {Buffer} */ chunk) => { bytes += chunk.length })
  const asleep = await open()
  asleep.on('error', () => {})
  asleep.pause()
  const sockets = () => new Promise(resolve => server.getConnections((_, count) => resolve(count)))
  let sent = 0
  while (await sockets() === 2 && sent < 500) {
    stream.send('news', 'x'.repeat(100_000))
    sent++
    await becomesTrue(() => bytes >= sent * 100_000)
  }
  t.equal(await sockets(), 1)
  t.ok(sent < 500, `after ${sent} pieces of 100 KB`)
  stream.send('news', 'last')
  t.ok(await becomesTrue(() => bytes > sent * 100_000), 'a page that reads gets everything')
  stream.end()
  await once(reading, 'end')
})

t.test('it does not keep a process alive, also with open connections', async t => {
  const script = `
    const { supervise } = require(${JSON.stringify(path.join(__dirname, '..', '..'))})
    const net = require('node:net')
    const http = require('node:http')
    const fleet = supervise({ app: process.env.APP, workers: 1, stopLinger: 0, admin: 0 })
    fleet.on('event', ({ event, url }) => {
      if (event !== 'fleet.admin') return
      const { port } = new URL(url)
      const silent = net.connect(port, '127.0.0.1').on('error', () => {})
      http.get(url + '/events', response => {
        response.on('error', () => {}).on('data', data => { if (String(data).includes('event: end')) console.log('told') })
        fleet.ready().then(() => fleet.stop())
      })
    })`
  t.same(await runToEnd([process.execPath, '-e', script], { env: { PORT: String(await freePort()), APP: path.join(FIXTURES, 'plain.js') } }),
    { code: 0, signal: null, stdout: 'told\n', stderr: '' })
})
