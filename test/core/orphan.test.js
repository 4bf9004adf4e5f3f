'use strict'

const t = require('tap')
const { familyOf, lockName, orphansAmong, sayOrphans, socketName } = require('../../lib/core/orphan')

t.test('orphans of a fleet are found by the names of their sockets, whichever Node.js has filled them up', async t => {
  const family = familyOf(1000, 'shop')
  const listed = (/** @type {string} */ name) => name.replaceAll('\0', '@')
  const ours = listed(socketName(family, 4321))
  const others = [familyOf(1001, 'shop'), familyOf(1000, 'shop2'), familyOf(1000, 'pohs')].map(other => listed(socketName(other, 7)))
  t.equal(socketName(family, 4321).length, 108)
  t.same(orphansAmong([...others, ours, null, '/tmp/a.sock', listed(lockName(family)), `@${family}88`, ours], family), [88, 4321])
  t.same(orphansAmong([`@${family}1`, `@${family}x`, `@${family}`], family), [])
})

t.test('the orphans of a user, of whatever fleet, are told in a sentence', async t => {
  const listed = (/** @type {string} */ name) => name.replaceAll('\0', '@')
  const shop = familyOf(1000, 'shop')
  const paths = [socketName(shop, 12), socketName(familyOf(1000, 'api'), 13), socketName(familyOf(100, 'api'), 14), lockName(shop)].map(listed)
  t.equal(sayOrphans([null, '/tmp/a.sock'], 1000), '')
  t.equal(sayOrphans(paths, 1000), '; 2 workers whose supervisor has died serve on (pid 12, 13): recycle adopts them when it is started again')
  t.match(sayOrphans(paths.slice(0, 1), 1000), /^; 1 worker whose supervisor has died serves on \(pid 12\): recycle adopts it /)
})
