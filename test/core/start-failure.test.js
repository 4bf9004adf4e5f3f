'use strict'

const t = require('tap')
const { explainRefusal, explainSilence } = require('../../lib/core/start-failure')
const { refuseLauncher } = require('../../lib/core/launchers')

const own = (/** @type {string[]} */ ...listens) => ({ pid: 7, command: 'node app.js', listens })
const child = (/** @type {string[]} */ ...listens) => ({ pid: 8, command: 'node server.js', listens })

t.test('a worker that never listened: the cause, and what helps', async t => {
  const silence = (/** @type {any} */ facts) => explainSilence({ readyOn: 'listening', hasLoaded: true, silentMs: 300, own: own(), children: [], ...facts })
  t.equal(silence({}), 'it does not listen anywhere; a program that serves no port is run with --ready-on online')
  t.equal(silence({ children: [child()] }), 'it does not listen anywhere, nor does the 1 process that it has started (pid 8 (node server.js)); a program that serves no port is run with --ready-on online')
  t.match(silence({ children: [child(), child()] }), /nor do the 2 processes that it has started \(pid 8 \(node server\.js\), …\)/)
  t.equal(silence({ children: [child(), child('port 3000')], own: own('port 4000') }), 'its child process pid 8 (node server.js) listens on port 3000: give recycle the file of the server itself')
  t.match(silence({ own: own('port 3000') }), /^it listens on port 3000 by a socket of its own \(.*\): --ready-on online serves it, without hand-off, and -w 1 without reusePort$/)
  t.equal(silence({ primaryBranch: 'cluster.isPrimary' }), 'it does not listen anywhere, and the main file has cluster.isPrimary, which is false in a worker: a listen() in that branch is not reached')
  t.match(silence({ primaryBranch: "throng's master", children: [child()] }), /^it does not listen anywhere, nor does the 1 process that it has started \(.*\), and the main file has throng's master, which/)
  t.equal(silence({ own: null }), null, 'a system without /proc')
  t.equal(silence({ silentMs: 28_000, children: [child()] }), 'its event loop has been blocked for 28s')
  t.equal(silence({ hasLoaded: false, silentMs: 28_000 }), 'its code was still loading')
  t.equal(silence({ readyOn: 'message' }), "its app has not called process.send('ready')")
  t.equal(silence({ readyOn: 'message', said: { type: 'ready' } }), 'its app has not called process.send(\'ready\'), but process.send({"type":"ready"})')
})

t.test('an address that was refused, and which process has it', async t => {
  const refused = { address: 'port 3000', port: 3000, code: 'EADDRINUSE', holder: { pid: 9, command: 'node other.js' } }
  t.equal(explainRefusal(refused), 'port 3000 is in use by pid 9 (node other.js)')
  t.equal(explainRefusal({ ...refused, holder: null }), 'port 3000 is in use, by a process that this user cannot see')
  t.equal(explainRefusal({ ...refused, isSibling: true }), 'port 3000 is in use by pid 9 of this fleet: a socket of its own (exclusive, a thread, a native server) is for one worker: write -w 1')
  t.equal(explainRefusal({ ...refused, isSibling: true, isOwn: true }), "port 3000 is in use by a socket on that port which recycle has at another address: --admin is to have a port of its own; where a socket unit of systemd passed it, ListenStream= is to be the app's own address, host and port")
  t.match(explainRefusal({ ...refused, port: 80, code: 'EACCES' }), /not permitted: ports below 1024/)
  t.equal(explainRefusal({ ...refused, code: 'EADDRNOTAVAIL' }), 'port 3000 is refused (EADDRNOTAVAIL)')
})

t.test('packages that start the app in another process, and what to write instead', async t => {
  const instead = (/** @type {string} */ file, /** @type {string[]} */ ...args) => refuseLauncher(file, args, 'x')?.replace(/^.*; write /, '') ?? null
  const by = (/** @type {string} */ pack, /** @type {string} */ call) => instead(`/app/node_modules/${pack}/bin.js`, ...call.split(' '))
  t.equal(by('tsx', 'watch server.ts'), 'recycle --node-option=--import=tsx server.ts')
  t.equal(by('tsx', '--env-file .env server.ts -v'), 'recycle --node-option=--import=tsx --node-option=--env-file=.env server.ts -v')
  t.equal(by('nodemon', 'app.js'), 'recycle app.js, and recycle reload after a change')
  t.equal(by('nodemon', '--watch src -e js,ts app.js --port 1'), 'recycle app.js --port 1, and recycle reload after a change')
  t.equal(by('ts-node-dev', '--respawn -P tsconfig.json server.ts'), 'recycle --node-option=--require=ts-node/register server.ts')
  t.equal(by('cross-env', 'A=1 app.js'), 'x A=1 recycle app.js')
  t.equal(by('cross-env', 'FOO=1 node server.js'), 'x FOO=1 recycle server.js', 'in place of node')
  t.equal(by('cross-env', 'A=1 B=2 node -r dotenv/config --inspect server.js --port 1'), 'x A=1 B=2 recycle --node-option=--require=dotenv/config --node-option=--inspect server.js --port 1')
  t.equal(by('cross-env', 'A=1 next start -p 80'), 'x A=1 recycle next start -p 80', 'before the program')
  t.equal(by('cross-env', 'A=1'), 'recycle <file>, with the file of the server itself')
  t.equal(by('env-cmd', '-f .env node server.js a'), 'x -f .env recycle server.js a')
  t.equal(by('env-cmd', '--silent -e production -- node server.js'), 'x --silent -e production -- recycle server.js')
  t.equal(by('dotenv-cli', '-e .env node server.js'), 'x -e .env recycle server.js')
  t.equal(by('@dotenvx/dotenvx', 'run -- app.js'), 'x run -- recycle app.js')
  t.equal(by('@dotenvx/dotenvx', 'run -f .env node app.js'), 'x run -f .env recycle app.js')
  t.equal(instead('/app/node_modules/cross-env/a.js', 'A=a b', 'app.js'), "x 'A=a b' recycle app.js", 'quoted for the shell')
  t.equal(by('cross-env', 'A=1 node app.js -- --x'), 'x A=1 recycle app.js -- --x', "the app's own --")
  t.equal(by('concurrently', 'a b'), 'recycle <file>, with the file of the server itself')
  t.match(refuseLauncher('/app/node_modules/tsx/dist/cli.mjs', [], 'tsx'), /^tsx starts the app in another process, which recycle could not supervise; write recycle --node-option=--import=tsx <file>$/)
  for (const file of ['/app/server.js', '/app/node_modules/next/dist/bin/next', '/app/node_modules/tsx', '/app/tsx/node_modules/x/y.js']) t.equal(instead(file, 'start'), null, file)
})
