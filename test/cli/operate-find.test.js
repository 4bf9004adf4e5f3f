'use strict'

/** How a verb finds its fleet: by name, by path, or because there is only one. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { call } = require('../support/calls')
const { startCli, BIN, FIXTURES } = require('../support/fleet')
const { controlRoom, shortFolder } = require('../support/control')
const { runToEnd } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')
const VERBS = [['status'], ['reload'], ['recycle', '0'], ['gc', '0'], ['scale', '+1'], ['stop'], ['tail']]

t.test('no fleet: one sentence, exit 2; an empty list is no failure', async t => {
  const room = controlRoom(t)
  await Promise.all(VERBS.map(async verb => {
    t.match(await room.call(verb), { code: 2, signal: null, stdout: '', stderr: /^recycle: no fleet is running, as far as \S+ tells; .* --control <path> or RECYCLE_CONTROL_DIR(; .* whose supervisor has died .*)?\n$/ }, verb[0])
  }))
  t.match(await room.call(['status', '--name', 'api']), { code: 2, signal: null, stdout: '', stderr: /^recycle: there is no fleet named "api"; no fleet is running, as far as / })
  t.match(await room.call(['ls']), { code: 0, signal: null, stdout: '', stderr: /^no fleet is running, as far as \S+ tells; / })
  t.same(await room.call(['ls', '--json']), { code: 0, signal: null, stdout: '[]\n', stderr: '' })
  const nowhere = path.join(room.folder, 'x.sock')
  t.match(await room.call(['stop', '--control', nowhere]), { code: 2, stdout: '', stderr: `recycle: no fleet answers at ${nowhere}: there is no such socket\n` })
})

t.test('two fleets', async t => {
  const room = controlRoom(t)
  const elsewhere = path.join(shortFolder(t), 'web')
  const [api, web] = await Promise.all([
    room.start(1, ['--name', 'api', '--orphan-timeout', '0', PLAIN]), // its output ends with its worker
    room.start(1, ['--control', elsewhere, '--name', 'web', PLAIN])
  ])
  const nameOf = async (/** @type {string[]} */ args, /** @type {Record<string, string>} */ env = {}) => {
    const { code, stdout, stderr } = await room.call([...args, '--json'], env)
    t.same({ code, stderr }, { code: 0, stderr: '' })
    return JSON.parse(stdout).name
  }

  await t.test('a single fleet in the default folder needs no name', async t => {
    t.equal(await nameOf(['status']), 'api')
  })

  await t.test('a fleet is named after the verb, before it, as its argument, by its socket, or in the environment', async t => {
    await Promise.all(/** @type {[string, string[], Record<string, string>?][]} */ ([
      ['web', ['status', '--control', elsewhere]],
      ['web', ['--control', elsewhere, 'status']],
      ['web', ['status'], { RECYCLE_CONTROL: elsewhere }],
      ['api', ['status', 'api']],
      ['api', ['--name', 'api', 'status']],
      ['api', ['status', '--name', 'api'], { RECYCLE_CONTROL: elsewhere }],
      ['api', ['status'], { RECYCLE_NAME: 'api' }]
    ]).map(async ([name, args, env]) => t.equal(await nameOf(args, env), name, args.join(' '))))
    t.match(await room.call(['status', 'web']), { code: 2, stderr: `recycle: there is no fleet named "web"; running: api (pid ${api.child.pid})\n` })
  })

  await t.test('an option of recycle <app> before a verb is refused, for it has no effect there', async t => {
    t.match(await room.call(['-w', '2', 'stop']), { code: 2, stdout: '', stderr: /^recycle: --workers is an option of recycle <app>, not of recycle stop; [^\n]*\.\/stop\n$/ })
  })

  await t.test('a folder in place of a socket: the only fleet with a socket in it, or the one of that name', async t => {
    t.equal(await nameOf(['status', '--control', room.folder]), 'api')
    t.equal(await nameOf(['status', 'api', '--control', room.folder]), 'api')
    const other = t.testdir()
    fs.chmodSync(other, 0o700)
    t.match(await room.call(['status', '--control', other]), { code: 2, stdout: '', stderr: `recycle: no fleet is running, as far as ${other} tells; ` })
    t.match(await room.call(['stop', '--control', path.join(PLAIN, 'x')]), { code: 2, stdout: '', stderr: `recycle: no fleet answers at ${PLAIN}/x: it is not a socket\n` })
  })

  await t.test('several fleets and no name: one sentence that lists them, exit 2', async t => {
    const third = await room.start(1, ['--name', 'batch', PLAIN])
    await Promise.all(VERBS.map(async verb => {
      t.same(await room.call(verb), {
        code: 2, signal: null, stdout: '', stderr: `recycle: several fleets are running: api (pid ${api.child.pid}), batch (pid ${third.child.pid}); select one by --name\n`
      }, verb[0])
    }))
    t.same(await room.recycle(['status']), await room.call(['status']), 'in a process of its own, too')
    const { stdout } = await room.recycle(['ls'])
    t.match(stdout.split('\n'), [/^name +pid +ready +RSS +recycles +app$/, new RegExp(`^api +${api.child.pid} +1 of 1 .*plain\\.js$`), new RegExp(`^batch +${third.child.pid} `)])
    t.match(JSON.parse((await room.call(['ls', '--json'])).stdout), [
      { name: 'api', pid: api.child.pid, app: PLAIN, control: path.join(room.folder, 'api.sock'), rssBytes: Number, totals: { workers: 1, ready: 1 } },
      { name: 'batch', pid: third.child.pid }
    ])
  })

  await t.test('a fleet whose name is taken is refused before a worker runs its app', async t => {
    const second = await runToEnd([process.execPath, BIN, '--name', 'api', '--log', 'json', PLAIN], { env: room.env })
    t.match(second, { code: 2, stdout: '', stderr: `recycle: the control socket ${path.join(room.folder, 'api.sock')} belongs to a running fleet, pid ${api.child.pid}: recycle reload has it run new code; or give this one a name of its own by --name\n` })
    const third = await runToEnd([process.execPath, BIN, '--control', elsewhere, PLAIN], { env: room.env })
    t.match(third, { code: 2, stderr: new RegExp(`pid ${web.child.pid}: .* give this one another path by --control\n$`) })
    t.equal(await nameOf(['status', 'api']), 'api', 'the first fleet stays in service')
  })

  await t.test('the socket file of a killed fleet is not listed as a fleet, and is taken over', async t => {
    const socket = path.join(room.folder, 'api.sock')
    api.child.kill('SIGKILL')
    await api.exited
    t.ok(fs.lstatSync(socket).isSocket(), 'its socket is still there')
    t.match(await room.call(['status', 'api']), { code: 2, stderr: /^recycle: there is no fleet named "api"; running: batch / })
    const next = await room.start(1, ['--name', 'api', PLAIN])
    t.match(JSON.parse((await room.call(['status', 'api', '--json'])).stdout), { name: 'api', pid: next.child.pid })
    next.child.kill('SIGTERM')
    t.match(await next.exited, { code: 0 })
    t.notOk(fs.existsSync(socket), 'the socket file is removed when the fleet stops')
  })

  await t.test('a fleet that does not answer is listed without a wait', async t => {
    web.child.kill('SIGSTOP')
    t.teardown(() => web.child.kill('SIGCONT'))
    t.match(await room.call(['status', '--control', elsewhere]), { code: 2, stderr: /^recycle: no fleet answers at [^\n]*: a process listens there, but sent nothing for 5000 ms\n$/ })
  })
})

t.test('root finds the fleet of a service in the folder of its user; another user is told what is ignored', { skip: process.getuid?.() !== 0 && 'only root can' }, async t => {
  const parent = fs.mkdtempSync('/tmp/rc-')
  t.teardown(() => fs.rmSync(parent, { recursive: true, force: true }))
  fs.chmodSync(parent, 0o755)
  const folder = path.join(parent, 'shop')
  fs.mkdirSync(folder, { mode: 0o700 })
  fs.chownSync(folder, 65_534, 65_534)
  const under = () => ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const env = { RECYCLE_CONTROL_DIR: folder, RECYCLE_CONTROL: '' }
  const { events } = await startCli(t, ['-w', '1', '--name', 'shop', PLAIN], { env, under })
  await events.until('worker.ready')
  for (const args of [['status'], ['status', 'shop'], ['ls']]) t.match(await call(args, { env }), { code: 0, stdout: /shop/, stderr: '' }, args.join(' '))
  fs.chmodSync(folder, 0o770)
  const why = `ignored: other users may write to ${folder} (mode 770)`
  t.match(await call(['ls', '--json'], { env }), { code: 0, stdout: '[]\n', stderr: `${why}\n` })
  t.match(await call(['status'], { env }), { code: 2, stderr: new RegExp(`; ${why.replace(/[()]/g, '.')}\n$`) })
  fs.chownSync(folder, 0, 0)
  const other = await runToEnd([...under(), process.execPath, BIN, 'ls'], { env })
  t.match(other, { code: 0, stderr: `ignored: ${folder} belongs to another user (uid 0)\nno fleet is running, ` })
})

t.test('a fleet has the name of its app file, or of its package or folder if the file name is generic', async t => {
  const room = controlRoom(t)
  const dir = t.testdir({
    'batch.js': fs.readFileSync(PLAIN, 'utf8'),
    api: { 'package.json': '{"name":"@acme/api"}', dist: { 'server.js': fs.readFileSync(PLAIN, 'utf8') } }
  })
  for (const [app, name] of [['batch.js', 'batch'], ['api/dist/server.js', 'api']]) {
    const { child, exited } = await room.start(1, [path.join(dir, app)])
    t.same(fs.readdirSync(room.folder), [`${name}.sock`])
    t.equal(fs.statSync(path.join(room.folder, `${name}.sock`)).mode & 0o777, 0o600)
    t.equal(fs.statSync(room.folder).mode & 0o777, 0o700)
    child.kill('SIGTERM')
    await exited
  }
})

t.test('--control none: no socket', async t => {
  const room = controlRoom(t)
  await room.start(1, ['--control', 'none', PLAIN])
  t.notOk(fs.existsSync(room.folder))
})

t.test('a path of --control that cannot be opened: one sentence, exit 2, nothing started', async t => {
  const room = controlRoom(t)
  for (const [args, sentence] of /** @type {[string[], RegExp][]} */ ([
    [['--control', `/tmp/${'x'.repeat(110)}`, PLAIN], /cannot be opened: the path has 115 bytes; a unix socket allows 107\n$/],
    [['--control', '/no/such/folder/x', PLAIN], /cannot be opened: there is no such folder\n$/],
    [['--control', PLAIN, PLAIN], /cannot be opened: the path exists and is not a socket\n$/]
  ])) {
    const { code, stdout, stderr } = await room.call(['--log', 'json', ...args])
    t.equal(code, 2)
    t.equal(stdout, '')
    t.match(stderr, /^recycle: the control socket [^\n]*\n$/)
    t.match(stderr, sentence)
  }
})
