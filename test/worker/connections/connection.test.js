'use strict'

const t = require('tap')
const { Connection } = require('../../../lib/worker/connections/connection')

/** @param {Record<string, any>} [about] */
function socketOf (about = {}) {
  return /** @type {any} */ ({
    remotePort: 40_000, writableLength: 0, parser: {}, destroyed: 0, destroy () { this.destroyed++ }, ...about
  })
}

/** @param {string} method @param {string} url @param {number} ageMs */
const exchange = (method, url, ageMs) => /** @type {any} */ ({ head: { method, url, version: '1.1', headers: [] }, response: {}, since: performance.now() - ageMs })

t.test('one that is held has no socket yet, and may be asked all the same', async t => {
  const connection = new Connection(null, /** @type {any} */ ({ isMovable: true, server: { _connections: 0 } }))
  connection.become('held')
  const members = Object.entries(Object.getOwnPropertyDescriptors(Connection.prototype))
  const asked = members.flatMap(([name, { get }]) => get ? [name] : [])
  for (const name of asked) t.doesNotThrow(() => Reflect.get(connection, name), name)
  t.ok(asked.includes('isUntouched') && asked.length > 10)
})

t.test('a connection is quiet when nothing is in flight and all is flushed', async t => {
  const connection = new Connection(socketOf(), /** @type {any} */ ({}))
  t.equal(connection.isQuiet, true)
  connection.exchanges.push(exchange('GET', '/', 0))
  t.equal(connection.isQuiet, false)
  t.equal(new Connection(socketOf({ writableLength: 1 }), /** @type {any} */ ({})).isQuiet, false)
})

t.test('over TLS the TLS socket tells HTTP from a protocol of the app', async t => {
  const connection = new Connection(socketOf({ parser: null }), /** @type {any} */ ({}))
  connection.secure = socketOf()
  t.equal(connection.isForeign, false)
  connection.secure = socketOf({ parser: null })
  t.equal(connection.isForeign, true)
  connection.session = /** @type {any} */ ({})
  t.equal(connection.isForeign, false, 'HTTP/2 has no parser and is not raw')
})

t.test('closing starts with the topmost socket, and the first cause stays', async t => {
  for (const layers of [['session', 'secure'], ['secure'], []]) {
    const connection = /** @type {any} */ (new Connection(socketOf(), /** @type {any} */ ({})))
    for (const layer of layers) connection[layer] = socketOf()
    connection.close('cut')
    connection.close('closedIdle')
    t.equal(connection.fate, 'cut')
    const [top, ...beneath] = [...layers, 'socket'].map(layer => connection[layer])
    t.ok(top.destroyed >= 1)
    for (const layer of beneath) t.notOk(layer.destroyed, 'the lower socket is closed by the upper one')
  }
})
