'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const t = require('tap')
const { readJournal } = require('../..')
const { startCli, freePort, BIN, Events, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue, runToEnd } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')
/** An app that stops its supervisor as soon as it listens. */
const BRIEF = "require('node:http').createServer().listen(process.env.PORT, () => process.kill(process.ppid, 'SIGTERM'))"

/** @param {string} text */
const lines = text => text.split('\n').filter(Boolean)

t.test('the log to a pipe has a line of JSON, in pino\'s format, for each change of a worker, options that are not as by default, and no character that a terminal obeys', async t => {
  const name = 'a\u009b2J\u0085\u202eb.js'
  const dir = t.testdir({ [name]: fs.readFileSync(PLAIN, 'utf8') })
  const child = spawn(process.execPath, [BIN, '-w', '5', '-m', '256MiB', '--control', 'none', '--stop-linger', '100ms', path.join(dir, name)], {
    env: { ...process.env, PORT: String(await freePort()) }, stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', text => t.fail(text))
  child.stderr.on('data', text => { said += text })
  const events = new Events()
  readline.createInterface({ input: child.stderr }).on('line', text => events.push(JSON.parse(text)))
  const exited = once(child, 'close')
  await events.until('fleet.ready')
  child.kill('SIGHUP')
  await events.until('fleet.reloaded')
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
  const five = (/** @type {string} */ event) => Array(5).fill(event)
  const told = events.lines.filter(({ event }) => !['fleet.slept', 'fleet.warning'].includes(event)) // of a busy machine
  t.same(told.map(({ event }) => event), [
    'fleet.start', ...five('worker.ready'), 'fleet.ready',
    'fleet.reload', ...five('recycled'), 'fleet.reloaded',
    'fleet.stopping', ...five('stopped'), 'fleet.stop'
  ])
  t.ok(Buffer.byteLength(said) < 10_000, `${Buffer.byteLength(said)} bytes`)
  t.same(Object.keys(events.lines[0].options).filter(name => name !== 'workers').sort(), ['control', 'hardRssBytes', 'maxRssBytes', 'stopLingerMs'])
  for (const line of told) t.match(line, { level: 30, time: Number, pid: Number, hostname: os.hostname(), name: 'recycle', msg: String })
  const twice = lines(said).filter(line => {
    const keys = [...line.replace(/"(options|budget)":\{.*?\}/g, '').matchAll(/[{,]"(\w+)":/g)].map(match => match[1])
    return new Set(keys).size < keys.length
  })
  t.same(twice.slice(0, 1), [], 'no line has a key twice')
  t.notMatch(said.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u)
  t.match(events.lines[0], { event: 'fleet.start', app: path.join(dir, name) }, 'it means the same')
})

t.test('--log pretty writes a sentence per event, --log silent nothing', async t => {
  const dir = t.testdir({ 'app.js': BRIEF })
  const run = async (/** @type {string} */ log) => runToEnd([process.execPath, BIN, '-w', '1', '--log', log, path.join(dir, 'app.js')], { env: { PORT: String(await freePort()) } })
  const pretty = await run('pretty')
  t.equal(pretty.code, 0)
  t.match(lines(pretty.stderr)[0], /^\d\d:\d\d:\d\d recycle \d+ starts 1 workers? of /)
  t.match(lines(pretty.stderr).at(-1), /^\d\d:\d\d:\d\d stopped after 0 recycles$/)
  t.same(await run('silent'), { code: 0, signal: null, stdout: '', stderr: '' })
})

t.test('status tells of a journal that cannot be written, as long as it is so', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-j-'))
  const { child, events } = await startCli(t, ['-w', '1', '--control', `${folder}.sock`, '--journal', path.join(folder, 'run.ndjson'), PLAIN])
  await events.until('fleet.ready')
  const status = async () => (await runToEnd([process.execPath, BIN, 'status', '--control', `${folder}.sock`])).stdout
  const said = /^the journal \S+run\.ndjson cannot be written: ENOENT.*; lines still go to the previous file$/m
  t.notMatch(await status(), said)
  fs.renameSync(folder, `${folder}.old`)
  t.match(await events.until('fleet.warning'), { warning: 'journal' })
  t.match(await status(), said)
  fs.mkdirSync(folder)
  t.ok(await becomesTrue(async () => !said.test(await status())))
  child.kill('SIGTERM')
})

t.test('--journal is NDJSON, and appended to by the next run', async t => {
  const journal = path.join(t.testdir({}), 'run.ndjson')
  for (let run = 1; run <= 2; run++) {
    const { port, child, events, exited } = await startCli(t, ['-w', '1', '-i', '50ms', '--journal', journal, PLAIN])
    await events.until('worker.ready')
    await get(port)
    child.kill('SIGHUP')
    await events.until('recycled')
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })

    const all = lines(fs.readFileSync(journal, 'utf8')).map(line => JSON.parse(line))
    t.equal(all.filter(line => line.event === 'fleet.start').length, run)
    t.equal(all.filter(line => line.event === 'fleet.stop').length, run)
    t.equal(all.filter(line => line.event === 'recycled').length, run)
    t.equal(all.at(-1).event, 'fleet.stop')
    t.ok(all.some(line => line.event === 'worker.sample'))
    for (const line of all) t.match(line, { v: 1, t: Number, event: String })
    const read = []
    for await (const line of readJournal(journal)) read.push(line)
    t.same(read, all, 'readJournal() gives every line')
  }
})

t.test('when the reader of its log and output has gone, as `| head -1`, the fleet serves on, recycles and stops as before', async t => {
  const journal = path.join(t.testdir(), 'journal')
  const { port, child, events, exited } = await startCli(t, ['-w', '1', '-i', '50ms', '--prefix', '--stop-linger', '100ms', '--journal', journal, path.join(FIXTURES, 'misbehaves.js')])
  await events.until('worker.ready')
  child.stdout.destroy()
  child.stderr.destroy()
  for (let i = 0; i < 3; i++) t.match(await get(port, '/slow?ms=1'), { status: 200 }, 'the worker prints a line')
  child.kill('SIGHUP')
  t.ok(await becomesTrue(() => fs.readFileSync(journal, 'utf8').includes('"event":"fleet.reloaded"')))
  t.match(await get(port, '/slow?ms=1'), { status: 200 })
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.notMatch(fs.readFileSync(journal, 'utf8'), /"worker\.crash"/)
})
