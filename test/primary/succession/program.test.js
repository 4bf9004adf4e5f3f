'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { programOnDisk } = require('../../../lib/primary/succession/program')
const { folderAsNamed } = require('../../../lib/primary/workers/app-path')
const { nodeOnDisk } = require('../../../lib/primary/workers/node-file')

t.test('the node of the command line is looked up anew', async t => {
  const dir = t.testdir({ a: {}, b: { node: '', other: '' }, c: { node: '' } })
  const [b, c] = [path.join(dir, 'b'), path.join(dir, 'c')]
  for (const file of [path.join(b, 'node'), path.join(c, 'node')]) fs.chmodSync(file, 0o755)
  const found = (/** @type {string} */ argv0, searched = [path.join(dir, 'a'), b, c].join(path.delimiter)) => nodeOnDisk(argv0, '/was/node', searched, dir)
  t.equal(found('node'), path.join(b, 'node'), 'by PATH, the first that can be run')
  fs.chmodSync(path.join(b, 'node'), 0o644)
  t.equal(found('node'), path.join(c, 'node'))
  t.equal(found(path.join(c, 'node')), path.join(c, 'node'), 'by its path')
  t.equal(found('c/node'), path.join(c, 'node'), 'from the folder of the start')
  t.equal(found('other'), '/was/node', 'it cannot be run: the file that runs now')
  t.equal(found('node', ''), '/was/node')
  t.equal(found(b), '/was/node', 'a folder')
})

t.test('the folder by the name that led to it', async t => {
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  const dir = fs.realpathSync(t.testdir({ releases: { 1: {}, 2: {} }, current: t.fixture('symlink', 'releases/1') }))
  const current = path.join(dir, 'current')
  process.chdir(current)
  t.equal(folderAsNamed(current), current, 'which may lead elsewhere later')
  t.equal(folderAsNamed(path.join(dir, 'releases', '2')), path.join(dir, 'releases', '1'), 'PWD is of another folder')
  for (const named of [undefined, '', 'current', path.join(dir, 'none')]) t.equal(folderAsNamed(named), path.join(dir, 'releases', '1'))
})

t.test('a successor is not given what is for this process alone', async t => {
  Object.assign(process.env, { LISTEN_PID: '1', LISTEN_FDS: '1', LISTEN_FDNAMES: 'a', WATCHDOG_PID: '1' })
  t.teardown(() => { for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'WATCHDOG_PID']) delete process.env[name] })
  const { node, args, env } = programOnDisk('/opt/node')
  t.equal(node, '/opt/node')
  t.same(args.slice(-1), process.argv.slice(-1))
  t.same(Object.keys(env).filter(name => /^(LISTEN|WATCHDOG)/.test(name) && env[name] !== undefined), [], 'spawn() leaves out what is undefined')
  t.equal(env.PATH, process.env.PATH)
})
