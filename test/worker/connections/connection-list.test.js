'use strict'

const t = require('tap')
const { ConnectionList } = require('../../../lib/worker/connections/connection-list')

/** @param {number} count */
function listOf (count) {
  const list = new ConnectionList()
  const connections = Array.from(
    { length: count }, (_, name) => /** @type {any} */ ({ name, before: null, after: null })
  )
  for (const connection of connections) list.add(connection)
  return { list, connections }
}

/** The rest of the pass. @param {ConnectionList} list */
function rest (list) {
  const names = []
  for (let at = list.next(); at; at = list.next()) names.push(/** @type {any} */ (at).name)
  return names
}

t.test('a pass visits each connection once, oldest first, and ends', async t => {
  const { list } = listOf(4)
  t.equal(list.next(), null, 'none has begun')
  list.rewind()
  t.same(rest(list), [0, 1, 2, 3])
  t.equal(list.next(), null)
  list.rewind()
  list.next()
  list.rewind()
  t.same(rest(list), [0, 1, 2, 3])
})

t.test('connections leave and come during a pass', async t => {
  const { list, connections: [first, second, third, fourth] } = listOf(4)
  list.rewind()
  t.equal(list.next(), first)
  list.delete(first)
  list.delete(second)
  list.delete(fourth)
  list.add(second)
  t.same(rest(list), [2, 1])
  list.delete(third)
  list.delete(second)
  list.rewind()
  t.same(rest(list), [])
  t.equal(list.size, 0)
})
