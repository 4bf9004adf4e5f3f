'use strict'

const t = require('tap')
const { callOf } = require('../../lib/core/pm2-app')
const { unitsOf } = require('../../lib/core/service-unit')

t.test("an app of pm2's ecosystem file, as a call, and each of its keys accounted for", async t => {
  const app = {
    name: 'my shop',
    script: 'server.js',
    args: '--verbose a',
    instances: 'max',
    exec_mode: 'cluster',
    max_memory_restart: '300M',
    kill_timeout: 8000,
    listen_timeout: 3000,
    wait_ready: true,
    node_args: ['--enable-source-maps'],
    cwd: '/srv/shop',
    env: { PORT: 3000 },
    env_production: { NODE_ENV: 'production' },
    env_test: {},
    watch: false,
    unheard_of: 1
  }
  const { keys, ...call } = callOf(app, 'server')
  t.same(call, {
    name: 'my-shop',
    options: ['--name', 'my-shop', '--workers', 'auto', '--max-rss', '300M', '--drain-timeout', '8000ms', '--ready-timeout', '3000ms', '--ready-on', 'message', '--node-option=--enable-source-maps'],
    app: 'server.js',
    args: ['--verbose', 'a'],
    interpreter: null,
    folder: '/srv/shop',
    env: { PORT: '3000', NODE_ENV: 'production' }
  })
  t.same(keys.map(({ key }) => key).sort(), Object.keys(app).sort())
  t.match(keys.find(({ key }) => key === 'unheard_of'), { became: 'left out: recycle has nothing like it' })
  t.match(keys.find(({ key }) => key === 'instances'), { became: /^--workers auto: 2×CPU\+1 workers; pm2 starts one for each CPU$/ })
  t.match(callOf({ script: 'a.js', instances: 4 }, 'a'), { name: 'a', options: ['--name', 'a', '--workers', '4'], args: [], folder: null, env: {} })
})

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

t.test('each key of an app says what became of it', async t => {
  const became = (/** @type {Record<string, any>} */ app) => Object.fromEntries(callOf(app, 'shop').keys.map(({ key, became }) => [key, became]))
  t.same(became({ name: 'shop', script: 'a.js', args: 'x', cwd: '/srv', env: {}, env_production: {}, env_test: {}, user: 'www', uid: 'www', interpreter: 'node' }), {
    name: '--name shop',
    script: 'the app and its arguments',
    args: 'the app and its arguments',
    cwd: 'WorkingDirectory=',
    env: 'Environment=, or <app>.env with --write',
    env_production: 'Environment=, in place of what env has by the same names',
    env_test: 'left out: a unit has one environment',
    user: 'User=',
    uid: 'User=',
    interpreter: 'the Node.js that runs recycle unit'
  })
  t.same(['python3', '/usr/bin/bun', 'none', 'node', '/opt/node22/bin/node', 'node@22.1.0', 'tsx', undefined].map(interpreter => callOf({ interpreter }, 'shop').interpreter), ['python3', '/usr/bin/bun', 'none', null, null, null, null, null])
  t.match(callOf({ exec_interpreter: 'bash' }, 'shop').interpreter, 'bash')
  t.match(callOf({ interpreter: 'tsx' }, 'shop').options, ['--name', 'shop', '--node-option=--import=tsx'])
  t.notMatch(callOf({ wait_ready: false }, 'shop').options, ['--ready-on'])
  t.match(callOf({ max_memory_restart: 300_000_000 }, 'shop').options, ['--name', 'shop', '--max-rss', '300000000'])
  t.match(callOf({ max_memory_restart: '300 M' }, 'shop').options, ['--name', 'shop', '--max-rss', '300M'])
  t.same(callOf({ args: ['a b', 'c'], node_args: '--a  --b' }, 'shop'), { ...callOf({}, 'shop'), args: ['a b', 'c'], options: ['--name', 'shop', '--node-option=--a', '--node-option=--b'], keys: callOf({ args: 1, node_args: '--a --b' }, 'x').keys })
})
