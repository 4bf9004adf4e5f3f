'use strict'

const path = require('node:path')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')

const file = (/** @type {string} */ name) => path.join(FIXTURES, name)
const about = async (/** @type {number} */ port, where = '/') => JSON.parse((await get(port, where)).body)

t.test('an app is started as by node itself', async t => {
  const early = path.join(t.testdir({ 'early.js': "process.env.HTTP_AT_REQUIRE = String(process.moduleLoadList.includes('NativeModule http'))" }), 'early.js')
  const { port, child, events, exited } = await startCli(t, [
    '-w', '1', '--node-option', '--max-old-space-size=123', '--node-option=--expose-gc', `--node-option=--require=${early}`, file('introspect.js'), '--workers', '3', '-i', '--', 'x y'
  ], { env: { NODE_OPTIONS: '--no-warnings' } })
  const { pid } = await events.until('worker.ready')

  await t.test('all arguments after <app> go to the app', async t => {
    const { argv } = await about(port)
    t.same(argv, ['--workers', '3', '-i', '--', 'x y'])
    t.equal(events.all('worker.spawn').length, 1)
  })

  await t.test('it is the main module', async t => {
    t.match(await about(port), { isMain: true, file: file('introspect.js') })
  })

  await t.test('it sees the node options in process.execArgv, without the preload', async t => {
    t.same((await about(port)).execArgv, ['--max-old-space-size=123', '--expose-gc', `--require=${early}`])
  })

  await t.test('what --node-option requires comes before recycle: http is not loaded yet, so that its internals can be replaced', async t => {
    t.equal((await about(port)).env.HTTP_AT_REQUIRE, 'false')
  })

  await t.test('recycle adds RECYCLE_SLOT and RECYCLE_WORKER_ID alone to its environment', async t => {
    const { env } = await about(port)
    t.equal(env.RECYCLE_SLOT, '0')
    t.equal(env.NODE_OPTIONS, '--no-warnings')
    t.same(Object.keys(env).filter(name => /^RECYCLE_|^NODE_CHANNEL|^NODE_UNIQUE_ID/.test(name)).sort(), ['RECYCLE_CONTROL', 'RECYCLE_SLOT', 'RECYCLE_WORKER_ID'], 'the first is the environment of this test')
  })

  for (const where of ['/child', '/thread']) {
    await t.test(`the preload does not run in a ${where.slice(1)} of its own`, async t => {
      t.same(await about(port, where), {
        isThread: where === '/thread',
        execArgv: ['--max-old-space-size=123', '--expose-gc', `--require=${early}`],
        hasApi: false,
        heedsSigterm: true,
        RECYCLE_WORKER: null,
        NODE_OPTIONS: '--no-warnings'
      })
    })
  }

  await t.test('RECYCLE_SLOT is the same after a recycle', async t => {
    child.kill('SIGHUP')
    const { slot, oldPid } = await events.until('recycled')
    t.same([slot, oldPid], [0, pid])
    t.equal((await about(port)).env.RECYCLE_SLOT, '0')
  })

  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('recycle -- app.js runs app.js; options come from the environment; each worker has a slot of its own', async t => {
  const { port, events } = await startCli(t, ['--', file('introspect.js'), '-a'], { env: { RECYCLE_WORKERS: '2', RECYCLE_MAX_RSS: '2G', RECYCLE_NODE_OPTION: '--expose-gc --no-warnings' } })
  const { options } = await events.until('fleet.start')
  t.match(options, { workers: 2, maxRssBytes: 2 * 1024 ** 3, nodeOptions: ['--expose-gc', '--no-warnings'] })
  t.match(await events.until('fleet.ready'), { listening: [`http://localhost:${port}`], workers: 2, maxRssBytes: 2 * 1024 ** 3 }, 'where it listens is said')
  t.same(events.all('worker.ready').map(line => line.slot).sort(), [0, 1])
  t.same((await about(port)).argv, ['-a'])
})

t.test('an ESM app with a top-level await runs', async t => {
  const { port, events } = await startCli(t, ['-w', '1', file('esm.mjs')])
  await events.until('worker.ready')
  t.match(await get(port), { status: 200, body: 'top-level await' })
})

for (const prefix of [false, true]) {
  t.test(`the output of workers is passed through${prefix ? ', with its slot in front by --prefix' : ''}`, async t => {
    const { port, events, out, said } = await startCli(t, ['-w', '2', ...(prefix ? ['--prefix'] : []), file('speaks.js'), 'aloud'])
    const ready = await Promise.all([events.until('worker.ready', { count: 1 }), events.until('worker.ready', { count: 2 })])
    const pid = Number((await get(port)).body)
    const mark = prefix ? `[${ready.find(line => line.pid === pid)?.slot}] ` : ''
    t.ok(await becomesTrue(() => out.length > 0 && said.length > 0))
    t.same(out, [`${mark}out of ${pid}`])
    t.same(said, [`${mark}err of ${pid}`])
  })
}

t.test('--ready-on message waits for process.send("ready")', async t => {
  const { child, events } = await startCli(t, ['-w', '1', '--ready-on', 'message', file('speaks.js')])
  const { readyMs } = await events.until('worker.ready')
  t.ok(readyMs >= 300, `the app says so 300 ms after it listens; it was ready after ${readyMs} ms`)
  child.kill('SIGHUP')
  t.match(await events.until('recycled'), { reason: 'reload', cut: 0 })
})
