'use strict'

const fs = require('node:fs')
const module_ = require('node:module')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')

const skip = 'flushCompileCache' in module_ ? false : 'this Node has no compile cache that can be flushed'

/** @param {any} t @param {Record<string, string>} [env] */
function cacheHome (t, env = {}) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-cache-')))
  const before = { ...process.env }
  Object.assign(process.env, { XDG_CACHE_HOME: folder, ...env })
  t.teardown(() => {
    for (const name of ['XDG_CACHE_HOME', ...Object.keys(env)]) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
    fs.rmSync(folder, { recursive: true, force: true })
  })
  return { folder, ours: path.join(folder, 'recycle', 'compile-cache') }
}

/** Every entry below a folder. @param {string} folder */
function entries (folder) {
  return fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
      .map(entry => entry.name)
    : []
}

t.test('workers use a compile cache of their own, written after boot, since a killed worker cannot write it, and at exit', { skip }, async t => {
  const { ours } = cacheHome(t)
  const { port, supervisor, events } = await startFleet(t, 'compiles.js', { workers: 1 })
  const first = JSON.parse((await get(port)).body)
  t.ok(first.folder.startsWith(ours + path.sep), first.folder)
  t.same([first.env, first.child], [null, { folder: null, env: null }], 'children of the app do not use it')
  const atBoot = entries(ours)
  t.equal(atBoot.length, 2, "the app's code by Node.js, and our own in one file")

  process.kill(first.pid, 'SIGKILL')
  await events.until('worker.ready', { where: line => line.pid !== first.pid })
  t.same(entries(ours).sort(), atBoot.sort(), 'the next worker finds all entries')

  await get(port, '/later')
  t.same(entries(ours).length, atBoot.length)
  await supervisor.recycle(0)
  t.same(entries(ours).length, atBoot.length + 1, 'modules loaded later are written when the worker exits')
})

for (const file of ['compiles.js', 'esm.mjs', ...(/** @type {any} */ (process.features).typescript ? ['apps/typescript.mts'] : [])]) {
  t.test(`a replacement uses the code that its predecessor compiled: ${path.extname(file)}`, { skip }, async t => {
    const { folder } = cacheHome(t)
    const app = path.join(FIXTURES, file)
    const { child, events, said, exited } = await startCli(t, ['-w', '1', '--stop-linger', '0', '--prefix', app], { env: { XDG_CACHE_HOME: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } })
    const first = await events.until('worker.ready')
    const accepted = () => said.filter(line => line.includes(app) && line.includes('was accepted')).length
    t.equal(accepted(), 0, 'the first worker finds no entry')
    child.kill('SIGHUP')
    await events.until('recycled', { where: line => line.oldPid === first.pid })
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
    t.equal(accepted(), 1)
    t.notOk(said.some(line => line.includes('was rejected')))
  })
}

t.test('--no-compile-cache and the environment are respected', { skip }, async t => {
  for (const [options, env, folder] of /** @type {const} */ ([
    [{ compileCache: false }, {}, null],
    [{}, { NODE_DISABLE_COMPILE_CACHE: '1' }, null],
    [{}, { NODE_COMPILE_CACHE: 'theirs' }, 'theirs']
  ])) {
    await t.test(JSON.stringify({ ...options, ...env }), async t => {
      const theirs = t.testdir({})
      const { ours } = cacheHome(t, Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === 'theirs' ? theirs : value])))
      const { port, supervisor } = await startFleet(t, 'compiles.js', { workers: 1, ...options })
      const about = JSON.parse((await get(port)).body)
      if (folder === null) t.equal(about.folder, null)
      else t.ok(about.folder.startsWith(theirs), about.folder)
      await supervisor.recycle(0)
      t.same(entries(ours), [])
    })
  }
})

t.test("recycle's own code is compiled once, in the primary and the workers, on each Node", async t => {
  const { folder, ours } = cacheHome(t)
  const app = path.join(FIXTURES, 'compiles.js')
  const packs = () => entries(ours).filter(name => /^(?:primary|worker)-[^.]+$/.test(name)).sort()
    .map(name => `${name} ${fs.statSync(path.join(ours, name)).ino}`)
  const run = async (/** @type {string[]} */ ...flags) => {
    const { child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '0', ...flags, app], { env: { XDG_CACHE_HOME: folder } })
    await events.until('fleet.ready')
    await becomesTrue(() => packs().length === 2 || flags.length > 0)
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
  }
  await run('--no-compile-cache')
  t.same(packs(), [])
  await run()
  const first = packs()
  t.match(first, [/^primary-/, /^worker-/])
  await run()
  t.same(packs(), first, 'all of it is in there')
})

t.test('a replacement has answered requests of its own before its first client comes; a worker with which the fleet starts has not', async t => {
  const { port, supervisor } = await startFleet(t, 'parsers.js', { workers: 1 })
  t.equal((await get(port)).body, '0')
  await supervisor.recycle(0)
  t.equal((await get(port)).body, '4', 'its own five, without the one of this request')
})
