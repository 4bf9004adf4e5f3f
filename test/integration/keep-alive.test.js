'use strict'

const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startNginx } = require('../../bench/support/nginx')
const { formatStatus } = require('../../lib/operate/control-table')
const { get } = require('../support/client')
const { startFleet, startCli, FIXTURES } = require('../support/fleet')
const { RawClient } = require('../support/raw-client')
const { lacking } = require('../support/program')
const { openSlowLink } = require('../support/slow-link')

const NODES_MS = new http.Server().keepAliveTimeout
const LATENCY_MS = 100
const CONNECTIONS = 60
const STEP_MS = 25

/**
 * What a load balancer does that keeps its connections for a minute: it sends each request on a connection that it has,
 * where it has not heard by then that the app has closed it, and does not send it again. The connections are idle for
 * 4.7 s to 6.2 s, about when Node.js closes them: 5 s, and one more in most versions.
 *
 * @param {any} t tap's
 * @param {number} port
 * @returns {Promise<{ sent: number, lost: number }>}
 */
async function balance (t, port) {
  const near = await openSlowLink(t, port, LATENCY_MS)
  const counts = { sent: 0, lost: 0 }
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, i) => {
    const connection = await RawClient.connect(near)
    t.teardown(() => connection.close())
    await connection.fetch('/', 'X-Forwarded-For: 192.0.2.1')
    await setTimeout(4700 + STEP_MS * i)
    if (connection.isEnded) return
    counts.sent++
    await connection.fetch('/', 'X-Forwarded-For: 192.0.2.1').catch(() => { counts.lost++ })
  }))
  return counts
}

t.test('without the option requests of a load balancer are lost, and that is said once', { skip: NODES_MS !== 5000 && `Node.js keeps idle connections for ${NODES_MS} ms` }, async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js')
  const { sent, lost } = await balance(t, port)
  t.ok(lost > 0, `${lost} of ${sent} requests are lost`)
  const warning = await events.until('fleet.warning')
  t.match(warning, { warning: 'keep-alive-timeout', header: 'X-Forwarded-For', timeoutMs: 5000 })
  t.ok(warning.idleMs >= 4500)
  t.equal(events.all('fleet.warning').length, 1)
  const status = supervisor.status()
  t.match(status.keepAliveTimeout, { timeoutMs: null, short: { header: 'X-Forwarded-For' } })
  t.match(formatStatus(status), /^a proxy \(X-Forwarded-For\) sends .* set --keep-alive-timeout to more than/m)
})

t.test('with --keep-alive-timeout none is lost, through recycles too', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { keepAliveTimeout: '65s' })
  const balanced = balance(t, port)
  await setTimeout(3000)
  for (const slot of [0, 1]) t.match(await supervisor.recycle(slot), { cut: 0 })
  t.same(await balanced, { sent: CONNECTIONS, lost: 0 })
  t.same(events.all('fleet.warning'), [])
  t.same(supervisor.status().keepAliveTimeout, { timeoutMs: 65_000, short: null })
})

/**
 * nginx keeps its connections to the app for 60 s, its default, and sends nothing again. Requests that take 2 s each
 * take another one of them.
 *
 * @param {any} t tap's
 * @param {number} port
 * @returns {Promise<Record<string, number>>} responses by their status
 */
async function balanceByNginx (t, port) {
  const nginx = await startNginx(await openSlowLink(t, port, LATENCY_MS), { keepsFor: '60s' })
  t.teardown(() => nginx.stop())
  /** @type {Record<string, number>} */
  const counts = {}
  const ask = async () => {
    const { status } = await get(nginx.port, '/slow?ms=2000')
    counts[String(status)] = (counts[String(status)] ?? 0) + 1
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, ask))
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, i) => {
    await setTimeout(4700 + STEP_MS * i)
    await ask()
  }))
  return counts
}

t.test('behind nginx clients get 502 without the option', { skip: lacking('nginx') || (NODES_MS !== 5000 && `Node.js keeps idle connections for ${NODES_MS} ms`) }, async t => {
  const { port, events } = await startFleet(t, 'plain.js')
  const counts = await balanceByNginx(t, port)
  t.ok(counts[502] > 0, JSON.stringify(counts))
  t.match(await events.until('fleet.warning'), { warning: 'keep-alive-timeout', header: 'X-Forwarded-For' })
})

t.test('behind nginx no client gets 502 with it', { skip: lacking('nginx') }, async t => {
  const { port, events } = await startFleet(t, 'plain.js', { keepAliveTimeout: '65s' })
  t.same(await balanceByNginx(t, port), { 200: 2 * CONNECTIONS })
  t.same(events.all('fleet.warning'), [])
})

for (const [when, protocol, expected, later] of /** @type {const} */ ([
  ['default', 'http', 65_000, 7000], ['default', 'tls', 65_000, 7000], ['option', 'http', 7000, 7000], ['listen', 'http', 7000, 7000], ['listen', 'tls', 7000, 7000]
])) {
  t.test(`an app that sets it ${when === 'default' ? 'later only' : `as ${when === 'option' ? 'an option' : 'it listens'}`}, ${protocol}: the app's holds`, async t => {
    const { port, events } = await startCli(t, ['-w', '1', '--keep-alive-timeout', '65s', path.join(FIXTURES, 'keep-alive.js'), when, protocol])
    await events.until('worker.ready')
    const ask = async (/** @type {string} */ url) => JSON.parse(protocol === 'http' ? (await get(port, url)).body : await getSecure(port, url))
    t.match(await ask('/'), { keepAliveTimeout: expected, headersTimeout: expected === 7000 ? 60_000 : 66_000 })
    await ask('/set')
    t.match(await ask('/'), { keepAliveTimeout: later })
  })
}

/** @param {number} port @param {string} path @returns {Promise<string>} */
function getSecure (port, path) {
  return new Promise((resolve, reject) => https.get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, response => {
    let body = ''
    response.setEncoding('utf8').on('data', chunk => { body += chunk }).on('end', () => resolve(body))
  }).on('error', reject))
}
