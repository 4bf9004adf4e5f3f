'use strict'

const t = require('tap')
const { familyOf, lockName, orphansAmong, socketName } = require('../../lib/core/orphan')

t.test('orphans of a fleet are found by the names of their sockets, whichever Node.js has filled them up', async t => {
  const family = familyOf(1000, 'shop')
  const listed = (/** @type {string} */ name) => name.replaceAll('\0', '@')
  const ours = listed(socketName(family, 4321))
  const others = [familyOf(1001, 'shop'), familyOf(1000, 'shop2'), familyOf(1000, 'pohs')].map(other => listed(socketName(other, 7)))
  t.equal(socketName(family, 4321).length, 108)
  t.same(orphansAmong([...others, ours, null, '/tmp/a.sock', listed(lockName(family)), `@${family}88`, ours], family), [88, 4321])
  t.same(orphansAmong([`@${family}1`, `@${family}x`, `@${family}`], family), [])
})
