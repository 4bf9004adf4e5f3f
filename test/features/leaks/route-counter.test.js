'use strict'

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const t = require('tap')
const { MOST_ROUTES, LONGEST_ROUTE } = require('../../../lib/features/leaks/bounds')
const { RouteCounter } = require('../../../lib/features/leaks/worker')

function scene () {
  const tracker = new EventEmitter()
  const counter = new RouteCounter(/** @type {any} */ (tracker))
  return {
    end: (/** @type {string} */ url, { statusCode = 200, method = 'GET', ...request } = /** @type {any} */ ({})) => tracker.emit('rest', null, { head: { method, url }, response: { statusCode, req: request } }),
    counts: () => Object.fromEntries(counter.names.map((name, i) => [name, counter.counts[i]]))
  }
}

t.test('requests count by method and path template', async t => {
  const { end, counts } = scene()
  for (const url of ['/users/1', '/users/2?x', '/', '/users/3']) end(url)
  end('/users/4', { method: 'POST' })
  t.same(counts(), { other: 0, 'GET /users/:id': 3, 'GET /': 1, 'POST /users/:id': 1 })
})

t.test("a framework's own route goes before the path, with where its router is mounted", async t => {
  const { end, counts } = scene()
  for (const name of ['anna', 'ben']) end(`/people/${name}`, { route: { path: '/people/:name' }, baseUrl: '' })
  end('/api/17/people/carl', { route: { path: '/people/:name' }, baseUrl: '/api/17' })
  end('/x', { route: { path: /x/ } })
  t.same(counts(), { other: 0, 'GET /people/:name': 2, 'GET /api/:id/people/:name': 1, 'GET /x': 1 })
})

t.test('Fastify tells its route by a channel', async t => {
  const { counts } = scene()
  const raw = { method: 'GET', url: '/people/anna' }
  const tracker = new EventEmitter()
  const counter = new RouteCounter(/** @type {any} */ (tracker))
  diagnostics.channel('tracing:fastify.request.handler:start').publish({ request: { raw }, route: { url: '/people/:name' } })
  tracker.emit('rest', null, { head: raw, response: { statusCode: 200, req: raw } })
  t.same(counter.names, ['other', 'GET /people/:name'])
  t.same(counts(), { other: 0 })
})

t.test('a path that is not found makes no route of its own; one that was found before counts there', async t => {
  const { end, counts } = scene()
  for (const url of ['/wp-login.php', '/.env']) end(url, { statusCode: 404 })
  end('/users/1')
  end('/users/2', { statusCode: 404 })
  t.same(counts(), { other: 2, 'GET /users/:id': 2 })
})

t.test('an HTTP/2 stream counts by its path', async t => {
  const tracker = new EventEmitter()
  const counter = new RouteCounter(/** @type {any} */ (tracker))
  tracker.emit('rest', null, { head: { method: 'GET', url: '/users/7' }, response: {} })
  t.same(counter.names, ['other', 'GET /users/:id'])
})

t.test('the number of routes and the length of a name are bounded', async t => {
  const { end, counts } = scene()
  const word = (/** @type {number} */ i) => String.fromCharCode(97 + i % 26, 97 + Math.floor(i / 26))
  for (let i = 0; i < 200; i++) end(`/${word(i)}${'/long'.repeat(100)}`, { method: 'M'.repeat(100) })
  t.equal(Object.keys(counts()).length, MOST_ROUTES)
  t.equal(counts().other, 200 - (MOST_ROUTES - 1))
  t.ok(Object.keys(counts()).every(name => name.length <= LONGEST_ROUTE))
})
