'use strict'

/** An upgrade during which one of the two primaries is told to stop, or is still asked something. */

const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { get } = require('../support/client')
const { freePort, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')
const { startUpgradable, kill } = require('../support/upgrade')

const PLAIN = path.join(FIXTURES, 'plain.js')

const CLIENTS = 300

// A client that a busy machine holds up for longer than this sends its request to a connection that is closed
const LINGER = ['--stop-linger', '2s']

t.test('SIGTERM while the new primary boots: both end, and no process is left', async t => {
  const { port, child, events, exited, areGone } = await startUpgradable(t, ['--control', 'none', ...LINGER, PLAIN])
  const load = new Load({ port, connections: 5 })
  t.teardown(() => load.stop())
  child.kill('SIGUSR2')
  await events.until('worker.spawn', { count: 3 })
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
  t.match(events.all('fleet.upgrade-failed'), [{ why: 'the fleet is stopping' }])
  t.same((await load.stop()).failures.filter(({ error }) => error !== 'ECONNREFUSED'), [])
})

t.test('a new primary that is told to stop as soon as it runs the fleet ends it, and the old primary does not run it again', async t => {
  const { port, child, events, exited, primary, areGone } = await startUpgradable(t, ['--control', 'none', PLAIN])
  const slow = get(port, '/slow?ms=500')
  child.kill('SIGUSR2')
  await events.until('fleet.upgraded')
  process.kill(primary(), 'SIGTERM')
  t.match(await slow, { status: 200 })
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
  t.same(events.all('fleet.resumed'), [])
})

t.test('a new primary that is told to stop before its workers serve: the old one stops the fleet, and no request is dropped', async t => {
  const folder = t.testdir({
    'app.js': `require(${JSON.stringify(path.resolve('lib/worker'))}).onServe(() => { while (require('node:fs').existsSync(__dirname + '/blocks')); })
      require('node:http').createServer((request, response) => response.end()).listen(process.env.PORT)`
  })
  const { port, child, events, exited, primary, areGone } = await startUpgradable(t, ['--control', 'none', ...LINGER, path.join(folder, 'app.js')])
  const load = new Load({ port, connections: 5 })
  t.teardown(() => load.stop())
  // From here on a worker that is to serve does not answer, and is killed
  fs.writeFileSync(path.join(folder, 'blocks'), '')
  child.kill('SIGUSR2')
  await events.until('fleet.upgraded')
  process.kill(primary(), 'SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
  t.match(events.all('fleet.upgrade-failed'), [{ why: 'it exited with code 0' }])
  t.same((await load.stop()).failures.filter(({ error }) => error !== 'ECONNREFUSED'), [])
})

t.test('SIGTERM to the new primary while old workers finish: the old primary does not run the fleet again, and what is in flight is answered', async t => {
  const { port, child, events, out, primary, exited, areGone } = await startUpgradable(t, ['--control', 'none', path.join(FIXTURES, 'misbehaves.js')])
  const slow = get(port, '/slow?ms=3000')
  t.ok(await becomesTrue(() => out.length === 1), 'it is in flight')
  child.kill('SIGUSR2')
  // Each of another primary's log
  await Promise.all([events.until('worker.drain', { count: 2 }), events.until('fleet.upgraded')])
  kill(primary(), 'SIGTERM')
  t.match(await slow, { status: 200 })
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
  t.same(events.all('fleet.resumed'), [])
})

t.test('a request to the admin port that is still on its way when the new primary takes over is answered by the old one, which stays until then', async t => {
  const admin = await freePort()
  const { child, events, primary, exited, areGone } = await startUpgradable(t, ['--control', 'none', '--admin', String(admin), PLAIN])
  await events.until('fleet.admin')
  // The half of a request, every 200 ms: the server waits 3 s for the rest, which an upgrade may take longer than
  const halves = []
  const sendHalf = () => {
    const client = net.connect(admin, '127.0.0.1')
    t.teardown(() => client.destroy())
    let received = ''
    client.on('data', bytes => { received += bytes })
    client.on('error', () => {}) // the end of its time may meet the rest
    client.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n')
    halves.push({ client, sentAt: performance.now(), answered: new Promise(resolve => client.once('close', () => resolve(received))) })
  }
  sendHalf()
  t.match(await get(admin, '/healthz'), { status: 200 }, 'one that came later is answered, so the old primary has that one')
  const timer = setInterval(sendHalf, 200)
  t.teardown(() => clearInterval(timer))
  child.kill('SIGUSR2')
  await events.until('fleet.left')
  clearInterval(timer)
  await new Promise(resolve => setTimeout(resolve, 300)) // it would have exited by then
  for (const { client } of halves) client.end('\r\n')
  const inTime = halves.filter(({ sentAt }) => performance.now() - sentAt < 2500)
  const answers = await Promise.all(inTime.map(({ answered }) => answered))
  const byOld = answers.filter(answer => answer.includes('another primary serves'))
  t.ok(byOld.length > 0, `${byOld.length} of ${answers.length} by the old one`)
  for (const answer of answers) t.match(answer, /^HTTP\/1\.1 200[^]*(?:connection: close[^]*ready: another primary serves|ready: 2 of 2 [^\n]*)\n$/i)
  kill(primary(), 'SIGTERM')
  t.match(await exited, { code: 0 })
  t.ok(await areGone())
})

t.test('a new primary that is killed as it takes connections over: each is the old workers\' or the new ones\'', { skip: loadAddon().missing ?? false }, async t => {
  for (const messages of [1, 2]) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
    t.teardown(() => fs.rmSync(folder, { recursive: true }))
    const preload = path.join(FIXTURES, 'dies-as-successor.js')
    const { port, child, events, areGone } = await startUpgradable(
      t, ['--control', path.join(folder, 's'), '--orphan-timeout', '5s', PLAIN],
      { env: { DIES_AFTER: String(messages), NODE_OPTIONS: `--require ${preload}` } }
    )
    const agents = Array.from({ length: CLIENTS }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
    t.teardown(() => agents.forEach(agent => agent.destroy()))
    const ask = () => Promise.all(agents.map(agent => get(port, '/', { agent })))
    await ask()
    child.kill('SIGUSR2')
    await events.until('fleet.resumed')
    await events.until('worker.orphaned', { count: 2 })
    for (const { status, reused } of await ask()) t.same({ status, reused }, { status: 200, reused: true })
    child.kill('SIGTERM')
    t.ok(await areGone())
  }
})
