'use strict'

const t = require('tap')
const { Connection } = require('../../../lib/worker/connections/connection')
const { nameCuts } = require('../../../lib/worker/leaving/name-cuts')

/** @param {Record<string, any>} [about] */
function socketOf (about = {}) {
  return /** @type {any} */ ({
    remotePort: 40_000, writableLength: 0, parser: {}, ...about
  })
}

/** @param {string} method @param {string} url @param {number} ageMs */
const exchange = (method, url, ageMs) => /** @type {any} */ ({ head: { method, url, version: '1.1', headers: [] }, response: {}, since: performance.now() - ageMs })

const isAbout = (/** @type {number} */ value, /** @type {number} */ meant) => value >= meant && value < meant + 5000

t.test('a cut request is named: method, path without its query, age, port of the client', async t => {
  const connection = new Connection(socketOf(), /** @type {any} */ ({}))
  connection.exchanges.push(exchange('GET', '/slow?token=secret&x=1', 1234))
  const [cut, ...rest] = nameCuts(connection)
  t.same(rest, [])
  t.match(cut, { method: 'GET', path: '/slow', remotePort: 40_000, upgraded: false })
  t.ok(isAbout(cut.ageMs, 1234) && Number.isInteger(cut.ageMs), `${cut.ageMs}`)
})

t.test('of pipelined requests each is named, oldest first', async t => {
  const connection = new Connection(socketOf(), /** @type {any} */ ({}))
  connection.exchanges.push(exchange('GET', '/a', 20), exchange('HEAD', '/b?', 10))
  t.same(nameCuts(connection).map(({ method, path }) => `${method} ${path}`), ['GET /a', 'HEAD /b'])
})

t.test('half a head has neither method nor path, and the age of its connection', async t => {
  const connection = new Connection(socketOf(), /** @type {any} */ ({}))
  connection.since = performance.now() - 700
  const cuts = nameCuts(connection)
  t.match(cuts, [{ method: null, path: null, remotePort: 40_000, upgraded: false }])
  t.ok(isAbout(cuts[0].ageMs, 700))
})

t.test('an upgraded connection is named as such', async t => {
  const connection = new Connection(socketOf({ parser: null }), /** @type {any} */ ({}))
  t.equal(connection.isForeign, true)
  t.match(nameCuts(connection), [{ method: null, path: null, upgraded: true }])
})

t.test('a closed socket has no port', async t => {
  t.match(
    nameCuts(new Connection(socketOf({ remotePort: undefined }), /** @type {any} */ ({}))), [{ remotePort: null }]
  )
})

t.test('the names are the same after JSON', async t => {
  const connection = new Connection(socketOf({ remotePort: undefined }), /** @type {any} */ ({}))
  connection.exchanges.push(/** @type {any} */ ({ head: { method: 'GET', url: '/', version: '1.1', headers: [] }, since: performance.now() }))
  const cuts = nameCuts(connection)
  t.same(JSON.parse(JSON.stringify(cuts)), cuts)
})
