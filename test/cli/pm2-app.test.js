'use strict'

const t = require('tap')
const { wordsOf } = require('../../lib/tables/options')
const { callOf } = require('../../lib/cli/pm2-app')

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
  const { keys, given, ...call } = callOf(app, 'server')
  t.same(wordsOf(given), ['--name', 'my-shop', '--workers', 'auto', '--max-rss', '300M', '--drain-timeout', '8000ms', '--ready-timeout', '3000ms', '--ready-on', 'message', '--node-option=--enable-source-maps'])
  t.same(call, {
    name: 'my-shop',
    app: 'server.js',
    args: ['--verbose', 'a'],
    interpreter: null,
    folder: '/srv/shop',
    env: { PORT: '3000', NODE_ENV: 'production' }
  })
  t.same(keys.map(({ key }) => key).sort(), Object.keys(app).sort())
  t.match(keys.find(({ key }) => key === 'unheard_of'), { became: 'left out: recycle has nothing like it' })
  t.match(keys.find(({ key }) => key === 'instances'), { became: /^--workers auto: 2×CPU\+1 workers; pm2 starts one for each CPU$/ })
  t.match(callOf({ script: 'a.js', instances: 4 }, 'a'), { name: 'a', given: { name: 'a', workers: '4' }, args: [], folder: null, env: {} })
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
  t.same(callOf({ interpreter: 'tsx', node_args: '--a' }, 'shop').given, { name: 'shop', nodeOption: ['--import=tsx', '--a'] })
  t.same(callOf({ wait_ready: false }, 'shop').given, { name: 'shop' })
  t.same(callOf({ max_memory_restart: 300_000_000 }, 'shop').given, { name: 'shop', maxRss: '300000000' })
  t.same(callOf({ max_memory_restart: '300 M' }, 'shop').given, { name: 'shop', maxRss: '300M' })
  t.same(callOf({ args: ['a b', 'c'], node_args: '--a  --b' }, 'shop'), { ...callOf({}, 'shop'), args: ['a b', 'c'], given: { name: 'shop', nodeOption: ['--a', '--b'] }, keys: callOf({ args: 1, node_args: '--a --b' }, 'x').keys })
})
