'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { call } = require('../support/calls')
const { BIN } = require('../support/fleet')
const { lacking } = require('../support/program')

/** @param {string} cwd @param {string[]} args */
async function unit (cwd, ...args) {
  const { code, stdout, stderr } = await call(['unit', ...args], { cwd, env: { PORT: '' } })
  return { status: code, stdout, stderr }
}

/** Each file by the comment before it. @param {string} text @returns {Map<string, string>} */
function filesIn (text) {
  return new Map(text.split(/^(?=# \/etc)/m).map(part => [path.basename(part.split('\n', 1)[0]), part]))
}

const APP = 'require("node:http").createServer((request, response) => response.end()).listen(process.env.PORT)'

t.test('the unit has the link that recycle was called by, which leads to another release after a deploy', async t => {
  const folder = t.testdir({ 'app.js': APP, recycle: t.fixture('symlink', path.join(__dirname, '..', '..', 'bin', 'recycle.js')) })
  const link = path.join(folder, 'recycle')
  const { stdout } = spawnSync(process.execPath, [link, 'unit', 'app.js'], { cwd: folder, encoding: 'utf8' })
  t.match(stdout, `ExecStart=${process.execPath} ${link} `)
})

t.test("the app's folder keeps the link by which the shell knows it", async t => {
  const folder = fs.realpathSync(t.testdir({ releases: { 1: { 'app.js': APP } }, current: t.fixture('symlink', 'releases/1') }))
  const current = path.join(folder, 'current')
  const { stdout } = spawnSync(process.execPath, [BIN, 'unit', 'app.js'], { cwd: current, env: { ...process.env, PWD: current }, encoding: 'utf8' })
  t.match(stdout, `WorkingDirectory=${current}\n`)
  t.match(stdout, ` ${current}/app.js\n`)
})

t.test('systemd finds nothing wrong with what is printed', { skip: lacking('systemd-analyze') }, async t => {
  const folder = t.testdir({ 'app.js': APP, 'ecosystem.config.js': 'module.exports = { apps: [{ name: "shop", script: "app.js", instances: 2, max_memory_restart: "300M", env: { PORT: 3000 } }] }' })
  for (const args of [['--name', 'shop', '-w', '2', '--max-rss', '512MiB', '--drain-timeout', '1m', '--no-handoff', '--node-option=--enable-source-maps', '--port', '3000', 'app.js', 'a b'], ['--from', 'ecosystem.config.js']]) {
    const { status, stdout, stderr } = await unit(folder, ...args)
    t.equal(status, 0, stderr)
    const files = filesIn(stdout)
    t.same([...files.keys()], ['shop.service', 'shop.socket'])
    const units = t.testdir(Object.fromEntries(files))
    for (const name of files.keys()) {
      const checked = spawnSync('systemd-analyze', ['verify', '--man=no', path.join(units, name)], { encoding: 'utf8' })
      t.same([checked.status, checked.stderr.split('\n').filter(line => line.includes('shop.'))], [0, []], name)
    }
    t.match(files.get('shop.service'), args[0] === '--from' ? 'ExecStart=' : 'TimeoutStopSec=75\n')
    fs.writeFileSync(path.join(units, 'app.js'), APP)
    fs.writeFileSync(path.join(units, 'ecosystem.config.js'), 'module.exports = { apps: [{ name: "shop", script: "app.js", instances: 2, max_memory_restart: "300M", env: { PORT: 3000 } }] }')
  }
})

t.test('flags behind the app are its own, which is said with the call that was meant', async t => {
  const folder = t.testdir({ 'app.js': APP })
  const { status, stdout, stderr } = await unit(folder, 'app.js', '--user', 'deploy', '--verbose', '-w', '2')
  t.equal(status, 0)
  t.match(stdout, ' app.js --user deploy --verbose -w 2\n'.replace(' app.js', '/app.js'))
  t.match(stderr, 'recycle unit: --user, -w stand after the app, which gets them; for recycle write: recycle unit --user deploy -w 2 app.js --verbose;')
  t.notMatch((await unit(folder, 'app.js', '--verbose')).stderr, 'stand')
})

t.test('a config file that starts something, as the app does, does not keep recycle unit', async t => {
  const starts = 'setInterval(() => {}, 1000)'
  const folder = t.testdir({ 'app.js': starts, 'recycle.config.js': `${starts}; module.exports = { app: 'app.js' }` })
  const run = (/** @type {string[]} */ ...args) =>
    spawnSync(process.execPath, [BIN, 'unit', ...args], { cwd: folder, encoding: 'utf8', timeout: 20_000 })
  t.match(run('--from', 'app.js'), { status: 2, signal: null, stderr: / has an app without a script\n$/ })
  t.match(run(), { status: 0, signal: null, stdout: /^ExecStart=/m })
})

t.test('the printed call is one that recycle takes', async t => {
  const folder = t.testdir({ 'app.js': APP })
  const { stdout } = await unit(folder, '-w', '2', '--max-rss', '512MiB', '--sticky', 'cookie:sid', 'app.js')
  const words = /^ExecStart=(.*)$/m.exec(stdout)?.[1].split(' ') ?? []
  const { status, stderr } = spawnSync(words[0], [words[1], '--print-config', ...words.slice(2)], { encoding: 'utf8' })
  t.same([status, stderr], [0, ''])
})

t.test('the app, its arguments, the name and the times of the config file, or of the start script', async t => {
  const folder = t.testdir({
    configured: { 'recycle.config.json': '{ "app": "app.js", "args": ["a b"], "name": "shop", "drainTimeout": "5m" }', 'app.js': APP },
    scripted: { 'package.json': '{ "name": "till", "scripts": { "start": "node app.js -v" } }', 'app.js': APP },
    other: { 'package.json': '{ "scripts": { "start": "next start" } }' },
    bad: { 'recycle.config.json': '{ "drainTimeout": "soon" }', 'app.js': APP }
  })
  const at = path.join(folder, 'configured')
  const [all, named] = [await unit(at), await unit(folder, '--config', 'configured/recycle.config.json')]
  t.match(all.stdout, ` --name shop ${at}/app.js "a b"\n`)
  t.match(all.stdout, 'TimeoutStopSec=315\n')
  t.match(named.stdout, ` --name shop --config ${at}/recycle.config.json ${at}/app.js "a b"\n`)
  const words = (await unit(at, '--config', 'none', '--name', 'other', 'app.js')).stdout
  t.match(words, ` --name other --config none ${at}/app.js\n`)
  t.match(words, 'TimeoutStopSec=45\n')
  t.match((await unit(path.join(folder, 'scripted'))).stdout, ` --name till ${folder}/scripted/app.js -v\n`)
  t.match(await unit(path.join(folder, 'other')), { status: 2, stdout: '', stderr: /^recycle: no app was named, and package\.json does not name one: its start script is "next start"/ })
  t.match(await unit(path.join(folder, 'bad'), 'app.js'), { status: 2, stdout: '', stderr: /^recycle: drainTimeout in recycle\.config\.json was given "soon"; / })
})

t.test('a user that is not there is said, and no error: an image may have its units before its users', async t => {
  const folder = t.testdir({ 'app.js': APP })
  t.match(await unit(folder, '--user', 'absent', 'app.js'), { status: 0, stdout: '\nUser=absent\n', stderr: 'there is no user "absent" here: until there is, systemd does not start the service (217/USER)\n' })
  for (const user of ['root', '12345']) t.match(await unit(folder, '--user', user, 'app.js'), { status: 0, stderr: '' }, user)
})

t.test("the table of pm2's keys, one app alone, and what is wrong, in a sentence each", async t => {
  const folder = t.testdir({
    'ecosystem.config.js': 'module.exports = { apps: [{ name: "a", script: "a.js", watch: true }, { name: "b", script: "b.js" }] }',
    'mixed.config.js': 'module.exports = { apps: [{ name: "a", script: "a.js" }, { name: "py", script: "a.js", interpreter: "python3" }, { name: "start", script: "npm", args: "start" }, { name: "gone", script: "gone.js" }] }',
    'a.js': APP,
    'app.js': APP,
    'bad.config.js': 'module.exports = { apps: [{ name: "a" }] }'
  })
  const { stdout, stderr } = await unit(folder, '--from', 'ecosystem.config.js', '--only', 'a')
  t.match(stderr, /^a:\n {2}name +--name a\n {2}script +the app and its arguments\n {2}watch +left out: recycle reload after a change\n(?:the service runs as root, as you are: --user <user> has it run as another one\n)?$/)
  t.same([...filesIn(stdout).keys()], ['a.service'])
  for (const [args, sentence] of /** @type {[string[], RegExp][]} */ ([
    [[], /^recycle: recycle unit needs the app: .*\n$/],
    [['--from', 'ecosystem.config.js', '--only', 'c'], /^recycle: ecosystem\.config\.js has no app c; it has a, b\n$/],
    [['--only', 'a', 'app.js'], /^recycle: --only is for --from <file>\n$/],
    [['--from', 'ecosystem.config.js', 'app.js'], /^recycle: recycle unit was given "app\.js" and --from; it takes one of them\n$/],
    [['--max-rss', '1G', '--from', 'ecosystem.config.js'], /^recycle: --max-rss has no place beside --from, /],
    ...['abc', '0', '99999', '127.0.0.1:', '-1'].map(port => /** @type {[string[], RegExp]} */ ([[`--port=${port}`, 'app.js'], new RegExp(`^recycle: --port was given "${port}"; it takes a port from 1 to 65535, or <host>:<port>; `)])),
    [['--from', 'bad.config.js'], /^recycle: the config file \S+bad\.config\.js has an app without a script\n$/],
    [['--from', 'mixed.config.js'], /^recycle: no unit for py: its interpreter is "python3", and recycle runs Node\.js; --only <app> prints that of another app of the file\n$/],
    [['--from', 'mixed.config.js', '--only', 'start'], /^recycle: no unit for start: there is no npm: recycle runs a file: .*\n$/],
    [['--from', 'mixed.config.js', '--only', 'gone'], /^recycle: no unit for gone: the app \S+gone\.js cannot be started: there is no such file; .*\n$/],
    [['--from', 'nowhere.js'], /^recycle: the config file \S+nowhere\.js cannot be read: .*\n$/],
    [['--max-rss', 'much', 'app.js'], /^recycle: --?\S*max-?[rR]ss .*was given "much".*\n$/]
  ])) t.match(await unit(folder, ...args), { status: 2, stdout: '', stderr: sentence }, args.join(' '))
  t.match((await unit(folder, '--from', 'mixed.config.js', '--only', 'a')).stdout, 'a.service')
  t.match(await unit(folder, 'nofile.js'), { status: 2, stdout: '', stderr: /^recycle: the app \S+nofile\.js cannot be started: there is no such file\n$/ })
})

t.test('--write: a unit and an EnvironmentFile an app, the environment in no file that others can read, nothing overwritten', async t => {
  const folder = t.testdir({
    'ecosystem.config.js': 'module.exports = { apps: [{ name: "a", script: "app.js", env: { PASSWORD: "p$w`%d\\"\\\\" } }, { name: "b", script: "app.js" }] }',
    'app.js': APP
  })
  const { status, stdout } = await unit(folder, '--from', 'ecosystem.config.js', '--write', 'etc/units')
  const at = path.join(folder, 'etc', 'units')
  t.equal(status, 0)
  t.match(stdout.split('\n'), [path.join(at, 'a.service'), path.join(at, 'a.env'), path.join(at, 'b.service'), `then: systemctl daemon-reload; systemctl enable --now ${at}/a.service; and `])
  t.match(fs.readFileSync(path.join(at, 'a.service'), 'utf8'), `\nEnvironmentFile=${at}/a.env\n`)
  t.equal(fs.readFileSync(path.join(at, 'a.env'), 'utf8'), 'PASSWORD="p\\$w\\`%d\\"\\\\"\n')
  t.equal(fs.statSync(path.join(at, 'a.env')).mode & 0o777, 0o600)
  t.notMatch((await unit(folder, '--from', 'ecosystem.config.js')).stdout, 'p$$w', '$ is no variable in Environment=')
  t.match(await unit(folder, '--from', 'ecosystem.config.js', '--write', 'etc/units'), { status: 2, stdout: '', stderr: /\nrecycle: \S+a\.service cannot be written: there is such a file already: delete it first, or write to another folder\n$/ })
  t.match(await unit(folder, 'app.js', '--write', '/proc/units'), { status: 0 }, 'behind the app it is an argument of the app')
  t.match(await unit(folder, '--write', '/proc/units', 'app.js'), { status: 2, stderr: /^recycle: \/proc\/units cannot be written: ENOENT/ })
})
