'use strict'

const t = require('tap')
const { explainRefusal, explainSilence } = require('../../lib/core/start-failure')

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
