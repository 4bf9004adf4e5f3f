'use strict'

const t = require('tap')
const { isLoopback } = require('../../lib/core/loopback')
const { resolveOptions } = require('../../lib/tables/resolved-options')

const resolve = (/** @type {Record<string, any>} */ given) => resolveOptions(given, { parallelism: 2 })

t.test('names and addresses of the machine itself', async t => {
  for (const host of ['localhost', 'LocalHost', 'app.localhost', 'a.b.localhost', '127.0.0.1', '127.255.0.9', '::1']) t.ok(isLoopback(host), host)
  for (const host of ['', 'localhost.example', 'notlocalhost', '.localhost', '127.0.0.1.example', '128.0.0.1', '0.0.0.0', '::', '::2', '10.127.0.1', 'localhost:80']) t.notOk(isLoopback(host), host)
})

t.test('an admin server on an address that other machines can reach needs a second option', async t => {
  t.same(resolve({ admin: '9100' }).admin, { host: '127.0.0.1', port: 9100 })
  t.same(resolve({ admin: '[::1]:9100' }).admin, { host: '::1', port: 9100 })
  t.same(resolve({ admin: '0.0.0.0:9100', adminAllowRemote: true }).admin, { host: '0.0.0.0', port: 9100 })
  for (const admin of ['0.0.0.0:9100', '[::]:9100', 'metrics.example:9100', '192.168.1.5:9100']) {
    t.throws(() => resolve({ admin }), { code: 'RECYCLE_BAD_OPTION', message: /^admin was given ".+"; it takes a loopback address, such as 127\.0\.0\.1:9100; any other only with adminAllowRemote$/ }, admin)
  }
})
