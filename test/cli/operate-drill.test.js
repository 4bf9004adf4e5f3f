'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { freePort, FIXTURES } = require('../support/fleet')
const { controlRoom } = require('../support/control')

t.test('a running fleet is drilled through its socket and stays in service', async t => {
  const room = controlRoom(t)
  const { port, child, events } = await room.start(2, ['--name', 'api', path.join(FIXTURES, 'plain.js')])
  const url = `http://127.0.0.1:${port}/`
  const folder = t.testdir()
  const tmp = { TMPDIR: folder }
  const out = path.join(folder, 'run.ndjson')
  const QUICK = ['-c', '10', '--rate', '200', '--duration', '2s', '--recycle-every', '300ms']
  const BRIEF = ['-c', '10', '--rate', '100', '--duration', '500ms', '--recycle-every', '1h']

  await t.test('load, recycles, a run file with both witnesses, 0 dropped', async t => {
    const { code, stdout, stderr } = await room.recycle(['drill', '--control', path.join(room.folder, 'api.sock'), '--url', url, '--out', out, ...QUICK], tmp)
    t.equal(code, 0, stderr)
    t.match(stdout, /^0 dropped of [\d,]+ requests over \d+ recycles?\n/)
    const lines = fs.readFileSync(out, 'utf8').trimEnd().split('\n').map(line => JSON.parse(line))
    const recycled = lines.filter(line => line.event === 'recycled')
    t.ok(recycled.length > 0)
    t.ok(recycled.every(line => line.reason === 'requested' && line.cut === 0))
    t.ok(recycled.some(line => line.moved > 0))
    t.match(lines.find(line => line.event === 'client.start'), { isAlone: false }, 'a running fleet may have other clients')
    t.match(lines.at(-1), { event: 'client.end', dropped: 0 })
  })

  await t.test('it is not stopped, and every recycle begun has its account', async t => {
    t.same(events.all('fleet.stopping'), [])
    t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { pid: child.pid, totals: { workers: 2, ready: 2, recycles: events.all('recycled').length } })
    t.equal(events.all('recycled').length, fs.readFileSync(out, 'utf8').match(/"event":"recycled"/g)?.length)
  })

  await t.test('the fleet is named by --name; if another server answers, or none, the drill is inconclusive', async t => {
    const other = await controlRoom(t).start(1, ['--control', 'none', path.join(FIXTURES, 'plain.js')])
    t.match(await room.recycle(['drill', '--name', 'api', '--url', `http://127.0.0.1:${other.port}`, ...QUICK], tmp), { code: 2, stdout: /^0 dropped of /, stderr: /it is not this fleet\n$/ })
    const url = `http://127.0.0.1:${await freePort()}`
    t.match(await room.recycle(['drill', '--name', 'api', '--url', url, ...BRIEF], tmp), { code: 2, stderr: new RegExp(`no connection to ${url} `) })
  })

  await t.test('wrong usage: one sentence, exit 2, and the fleet is left alone', async t => {
    const recycles = events.all('recycled').length
    const before = fs.readdirSync(folder)
    await Promise.all(/** @type {[string[], RegExp][]} */ ([
      [['--name', 'api'], /the drill of a running fleet needs --url, the target of the load/],
      [['--name', 'api', '--url', url, '-w', '3'], /--workers is for a fleet that the drill starts; a running fleet keeps its options/],
      [['--name', 'api', '--url', url, path.join(FIXTURES, 'plain.js')], /--name and --control select a running fleet; its drill takes no app/],
      [['--name', 'nope', '--url', url], /there is no fleet named "nope"; running: api \(pid \d+\)/]
    ]).map(async ([args, sentence]) => {
      const { code, stdout, stderr } = await room.call(['drill', ...args], tmp)
      t.same({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
      t.match(stderr, /^recycle drill: [^\n]*\n$/)
      t.match(stderr, sentence)
    }))
    t.equal(events.all('recycled').length, recycles)
    t.same(fs.readdirSync(folder), before, 'nothing is left behind')
  })

  await t.test('--kill kills its workers, one after the other', async t => {
    const { code, stdout, stderr } = await room.recycle(['drill', '--name', 'api', '--url', url, '-c', '5', '--rate', '100', '--duration', '2s', '--kill', '500ms'], tmp)
    t.ok([0, 1, 2].includes(code ?? -1), stderr)
    t.match(`${stdout}${stderr}`, /dropped of [\d,]+ requests over [1-9]\d* kills?, /)
    t.ok(events.all('worker.crash').length > 0)
    t.ok(events.all('worker.crash').every(({ signal }) => signal === 'SIGKILL'))
  })

  await t.test('the stop of the fleet ends the drill', async t => {
    const drilling = room.recycle(['drill', '--name', 'api', '--url', url, '-c', '5', '--rate', '100', '--duration', '60s', '--recycle-every', '100ms'], tmp)
    await events.until('recycled', { count: events.all('recycled').length + 2 })
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await drilling
    t.ok([1, 2].includes(code ?? 0))
    t.match(`${stdout}${stderr}`, /the fleet stopped before the drill was over|refused/)
  })
})

t.test('a fleet that is upgraded meanwhile is drilled on, and its upgrade is in the report', async t => {
  const room = controlRoom(t)
  const { port, events } = await room.start(2, ['--name', 'api', path.join(FIXTURES, 'plain.js')])
  const drilling = room.recycle(['drill', '--name', 'api', '--url', `http://127.0.0.1:${port}/`, '-c', '5', '--rate', '100', '--duration', '4s',
    '--recycle-every', '300ms'], { TMPDIR: t.testdir() })
  await events.until('recycled')
  t.match(await room.call(['upgrade']), { code: 0 })
  const { code, stdout, stderr } = await drilling
  t.match(await room.call(['stop']), { code: 0 })
  t.equal(code, 0, stderr)
  t.match(stdout, /^0 dropped of [\d,]+ requests over \d+ recycles\n/)
  t.match(stdout, /^\d+ requested, \d upgrade$/m)
})
