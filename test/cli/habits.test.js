'use strict'

/** What users of other supervisors type, and the answer that they get: docs/coming-from.md has the rest. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { call } = require('../support/calls')
const { controlRoom } = require('../support/control')
const { startCli, BIN, FIXTURES } = require('../support/fleet')
const { runToEnd } = require('../support/processes')

const folder = t.testdir({
  'app.js': fs.readFileSync(path.join(FIXTURES, 'plain.js'), 'utf8'),
  'typed.ts': 'const port: number = Number(process.env.PORT)\nrequire("node:http").createServer((q: any, r: any) => r.end("ok")).listen(port)\n',
  'ecosystem.config.js': 'module.exports = { apps: [] }',
  scripted: { 'package.json': '{ "scripts": { "start": "node src/main.js --its own" } }', src: { 'main.js': `${fs.readFileSync(path.join(FIXTURES, 'plain.js'), 'utf8')}\nif (require('node:cluster').isPrimary) console.log('never')\n` } },
  flagged: { 'package.json': '{ "main": "gone.js", "scripts": { "start": "node --enable-source-maps -r dotenv/config dist/main.js" } }' },
  next: { 'package.json': '{ "scripts": { "start": "next start" } }' },
  esm: { 'package.json': '{ "type": "module", "main": "lib/app.mjs" }', lib: { 'app.mjs': 'import http from "node:http"\nhttp.createServer((q, r) => r.end("ok")).listen(process.env.PORT)\n' } },
  two: { 'server.js': '', 'app.mjs': '' },
  empty: {}
})

/** @param {string} call @param {string} [cwd] @param {string} [port] */
const recycle = (call, cwd = folder, port = '0') => runToEnd([process.execPath, BIN, ...call.split(' ').filter(Boolean)], how(cwd, port))
/** @param {string} cwd @param {string} [port] */
const how = (cwd, port = '0') => ({ cwd, env: { PORT: port, RECYCLE_CONTROL: path.join(folder, 'none') } })

/** The call behind `recycle`, what the one sentence says, and where it is typed. @type {[string, RegExp, string?][]} */
const MISTAKES = [
  ['restart app', /no restart: recycle reload replaces every worker/],
  ['log app', /no log: .* recycle tail prints the events/],
  ['monit', /no monit: recycle top/],
  ['kill', /no kill: recycle stop/],
  ['delete all', /no delete: recycle stop/],
  ['describe app', /no describe: recycle status --json/],
  ['save', /no save: systemd/],
  ['startup', /no startup: systemd/],
  ['init', /no init: .*recycle\.config\.js/],
  ['env 0', /no env: .*environment in which recycle is started/],
  ['update', /no update: npm .*recycle upgrade/],
  ['reset all', /no reset: /],
  ['serve', /no serve: .*recycle <file>/],
  ['deploy production', /no deploy: .*recycle reload/],
  ['install pm2-logrotate', /no install: .*npm/],
  ['attach 0', /no attach: .*recycle tail/],
  ['pid', /no pid: recycle ls/],
  ['sendSignal SIGHUP app', /no sendSignal: recycle signal <signal> has/],
  ['gracefulReload all', /no gracefulReload: recycle reload/],
  ['node app.js', /no node: .*recycle <file>/],
  ['npm start', /no npm: .*start script/],
  ['-i max app.js', /--interval was given "max".*write -w$/],
  ['-w app.js', /--workers was given "app\.js".*node --watch$/],
  ['--instances max app.js', /no --instances: write --workers/],
  ['--max-memory-restart 300M app.js', /no --max-memory-restart: write --max-rss/],
  ['--wait-ready app.js', /no --wait-ready: write --ready-on message/],
  ['--watch app.js', /no --watch: .*node --watch/],
  ['--bind 0.0.0.0:80 app.js', /no --bind: .*server\.listen/],
  ['-b :80 app.js', /no -b: .*server\.listen/],
  ['--graceful-timeout 30 app.js', /no --graceful-timeout: write --drain-timeout/],
  ['--max-requests-jitter 50 app.js', /no --max-requests-jitter: write --jitter/],
  ['--node-args=--inspect app.js', /no --node-args: write --node-option/],
  ['--cron-restart 0 app.js', /no --cron-restart: --max-age/],
  ['reload --update-env', /no --update-env: .*environment/],
  ['stop --force', /no --force: .*recycle stop --now/],
  ['logs -f', /no fleet (?:is running|answers)/],
  ['tail -f', /no fleet (?:is running|answers)/],
  ['logs --lines 50', /no --lines: recycle logs and recycle tail have -n <n>$/],
  ['drill --attach', /unknown option '--attach'; see recycle help drill$/],
  ['heapdump', /missing required argument 'slot'; see recycle help heapdump$/],
  ['stop shop', /no fleet named "shop"|no fleet is running|no fleet answers/],
  ['relaod', /no such command; did you mean recycle reload\?/],
  ['ecosystem.config.js', /configures pm2: recycle unit --from ecosystem\.config\.js --write <folder> writes a systemd service/],
  ['start', /no app was named, and package\.json does not name one: its start script is "next start"/, 'next'],
  ['', /its start script is "next start".*write recycle \[options\] <file>/, 'next'],
  ['.', /its main, "gone\.js", is not there; .*write recycle --node-option=--enable-source-maps --node-option=--require=dotenv\/config dist\/main\.js/, 'flagged'],
  ['.', /write the file: server\.js or app\.mjs/, 'two'],
  ['.', /without a main file or an index\.js/, 'empty']
]

t.test('each mistake gets one sentence with what to write instead', async t => {
  for (const [typed, answer, where = '.'] of MISTAKES) {
    const { code, stdout, stderr } = await call(typed.split(' ').filter(Boolean), how(path.join(folder, where)))
    t.equal(code, 2, `recycle ${typed}`)
    t.equal(stdout, '', `recycle ${typed}: nothing on stdout`)
    t.match(stderr, /^recycle: [^\n]+\n$/, `recycle ${typed}: one line`)
    t.match(stderr.trim(), answer, `recycle ${typed}`)
  }
  const [[typed]] = MISTAKES
  t.same(await recycle(typed), await call(typed.split(' '), how(folder)), 'in a process of its own, too')
})

t.test('a TypeScript app on a Node.js that does not strip types: the flag that makes it run', { skip: /** @type {any} */ (process.features).typescript ? 'this one does' : false }, async t => {
  t.match(await recycle('typed.ts'), { code: 2, stderr: /^recycle: typed\.ts is TypeScript, which Node\.js v[\d.]+ does not run by itself; write recycle --node-option=--import=tsx typed\.ts\n$/ })
  const { events } = await startCli(t, ['-w', '1', '--control', 'none', '--node-option=--import=tsx', path.join(folder, 'typed.ts')], { cwd: folder })
  await events.until('worker.ready')
})

t.test('recycle start app.js, a folder with a start script, and an ESM main simply work', async t => {
  const fleets = await Promise.all([
    startCli(t, ['-w', '1', '--control', 'none', 'esm'], { cwd: folder }),
    startCli(t, ['-w', '1', '--control', 'none'], { cwd: path.join(folder, 'scripted') })
  ])
  for (const { events } of fleets) await events.until('worker.ready')
  t.match(fleets[0].events.all('fleet.start')[0].app, /esm\/lib\/app\.mjs$/)
  const branches = fleets.map(({ events }) => events.all('fleet.warning').filter(line => line.warning === 'primary-branch').map(line => line.branch))
  t.same(branches, [[], ['cluster.isPrimary']], 'code that no worker runs is told')
  t.match(fleets[1].events.all('fleet.start')[0], { app: /scripted\/src\/main\.js$/, args: ['--its', 'own'] })
  const { stderr } = await recycle('start --log=json --max-rss 1k app.js')
  t.match(stderr, /--max-rss was given "1k"/, 'start is left out')
})

t.test('options behind the app go to the app, with one warning that says what to write; behind -- there is none', async t => {
  const run = (/** @type {string[]} */ ...args) => startCli(t, ['-w', '1', '--control', 'none', 'app.js', ...args], { cwd: folder })
  const [warned, silent] = await Promise.all([run('--max-rss', '200mb', '-i', 'max', '--port', '1', '--instances', '3'), run('--port', '1', '--', '--max-rss', '200mb')])
  t.match(await warned.events.until('fleet.warning', { where: line => line.warning === 'flags-after-app' }), {
    flags: ['--max-rss', '-i', '--instances'], instead: 'recycle --max-rss 200mb -w auto --workers 3 app.js --port 1'
  })
  await silent.events.until('worker.ready')
  t.same(silent.events.all('fleet.warning').filter(line => line.warning === 'flags-after-app'), [])
  t.same(warned.events.all('fleet.start')[0].args, ['--max-rss', '200mb', '-i', 'max', '--port', '1', '--instances', '3'], 'the app gets them as before')

  const { stderr } = await recycle('drill -d 100ms -w 1 app.js --port 1 --max-rss 200mb -c 5', folder, '')
  t.match(stderr, /^recycle drill: --max-rss, -c stand after the app, which gets them; for recycle write: recycle drill --max-rss 200mb -c 5 app\.js --port 1; if they are the app's, write -- before$/m)
})

t.test('a misspelt variable, and bytes on stdin that no worker gets, are warned of, and the fleet serves', async t => {
  const { events } = await startCli(t, ['-w', '1', '--control', 'none', 'app.js'], {
    cwd: folder, env: { RECYCLE_WORKRS: '3', RECYCLE_PORT: '1' }, under: () => ['sh', '-c', 'printf hello | "$@"', 'sh']
  })
  const { bytes } = await events.until('fleet.warning', { where: line => line.warning === 'unread-stdin' })
  t.equal(bytes, 5)
  t.ok(events.all('worker.ready').length === 1, 'said when it is ready')
  t.same(events.all('fleet.warning').filter(line => line.warning === 'misspelt-variables').map(line => line.variables), [[{ variable: 'RECYCLE_WORKRS', meant: 'RECYCLE_WORKERS' }]])
})

t.test('behind recycle start, -- is not passed on, and flags of pm2 that recycle does not have are warned of', async t => {
  const run = (/** @type {string[]} */ ...args) => startCli(t, ['-w', '1', '--control', 'none', 'app.js', ...args], { cwd: folder, word: 'start' })
  const [silent, warned] = await Promise.all([run('--', '--port', '8', '--', '-f'), run('--watch', '-f')])
  await silent.events.until('worker.ready')
  t.same(silent.events.all('fleet.start')[0].args, ['--port', '8', '--', '-f'])
  t.same(silent.events.all('fleet.warning').filter(line => line.warning === 'flags-after-app'), [])
  t.match(await warned.events.until('fleet.warning', { where: line => line.warning === 'flags-after-app' }), {
    flags: ['--watch', '-f'], instead: 'recycle start app.js', answers: [/^there is no --watch: /, /^there is no -f: /]
  })
})

t.test('with one fleet, all is this fleet, and a number gets a sentence', async t => {
  const room = controlRoom(t)
  const { exited } = await room.start(1, ['--name', 'shop', path.join(folder, 'app.js')])
  t.match(await room.call(['reload', '0']), { code: 2, stderr: 'recycle: there is no fleet named "0"; running: shop' })
  t.match(await room.call(['reload', '0']), { stderr: /; fleets have names and no numbers: recycle reload alone .* recycle recycle 0 replaces the worker of slot 0\n$/ })
  t.match(await room.call(['status', 'all']), { code: 0, stdout: /^shop / })
  t.match(await room.call(['reload', 'all']), { code: 0, stdout: /^shop is reloaded: 1 worker replaced/ })
  const second = await room.start(1, ['--name', 'all', path.join(folder, 'app.js')])
  t.match(await room.call(['stop', 'all']), { code: 0, stdout: /^all has stopped/ }, 'a fleet of this name comes first')
  await second.exited
  const third = await room.start(1, ['--name', 'third', path.join(folder, 'app.js')])
  t.match(await room.call(['stop', 'all']), { code: 2, stderr: /^recycle: several fleets are running: shop .*third/ })
  await room.call(['stop', 'third'])
  await third.exited
  t.match(await room.call(['stop', 'all']), { code: 0, stdout: /^shop has stopped/ })
  t.same(await exited, { code: 0, signal: null })
})

t.test('the name of a fleet is the last argument of each command, as of status', async t => {
  const room = controlRoom(t)
  const command = (/** @type {string[]} */ ...args) => room.call(args)
  const { exited } = await room.start(1, ['--name', 'shop', path.join(folder, 'app.js')])
  for (const args of [['reload', 'other'], ['scale', '2', 'other'], ['stop', 'other'], ['tail', 'other']]) {
    t.match(await command(...args), { code: 2, stderr: /there is no fleet named "other"; running: shop/ }, args.join(' '))
  }
  t.match(await command('list'), { code: 0, stdout: /shop/ })
  t.match(await command('scale', '2', 'shop'), { code: 0, stdout: 'shop has 2 workers, 1 before\n' })
  t.match(await command('scale', 'shop', '1'), { code: 0, stdout: 'shop has 1 worker, 2 before, 0 cut, 0 moved\n' }, 'in the order of pm2')
  t.match(await command('reload', 'shop'), { code: 0, stdout: /^shop is reloaded: 1 worker replaced/ })
  t.match(await command('stop', 'shop'), { code: 0, stdout: /^shop has stopped/ })
  t.same(await exited, { code: 0, signal: null })
})
