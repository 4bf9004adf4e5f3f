'use strict'

const t = require('tap')
const { unitsOf } = require('../../lib/cli/service-unit')

t.test('a unit: words are quoted, specifiers are escaped, and there is a socket where the port is known', async t => {
  const service = {
    name: 'shop',
    command: ['/usr/bin/node', '/opt/recycle.js', '--name', 'shop', '/srv/100% shop/app.js', 'a "b" $c'],
    folder: '/srv/100% shop',
    user: 'www',
    env: { GREETING: 'good day' },
    envFile: null,
    port: '3000',
    timeouts: { readyTimeoutMs: 30_000, drainTimeoutMs: 60_000, killTimeoutMs: 5000, stopTimes: { totalMs: 75_000 } }
  }
  const [{ text }, socket] = unitsOf(service)
  t.match(text, '\nExecStart=/usr/bin/node /opt/recycle.js --name shop "/srv/100%% shop/app.js" "a \\"b\\" $$c"\n')
  t.match(text, '\nTimeoutStopSec=75\n')
  t.match(text, '\nEnvironment="GREETING=good day"\n')
  t.match(text, '\nEnvironment=RECYCLE_CONTROL_DIR=/run/shop\n')
  t.match(socket, { file: 'shop.socket', text: /^\[Socket\]\nListenStream=3000\n/ })
  const loopback = unitsOf({ ...service, port: '127.0.0.1:3000', env: { PORT: '3000' }, envFile: '/etc/shop.env' })
  t.match(loopback, [{ text: /\nEnvironment=PORT=3000\n/ }, { text: /^\[Socket\]\nListenStream=127\.0\.0\.1:3000\n/ }, { text: /^$/ }])
  const without = unitsOf({ ...service, port: null })
  t.equal(without.length, 1)
  t.notMatch(without[0].text, /socket|PORT/)
})
