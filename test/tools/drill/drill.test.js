'use strict'

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
require('../../support/bare-children')
const { drill } = require('../../../lib/tools/drill')
const { freePort } = require('../../../lib/tools/drill/target')
const { readReport } = require('../../../lib/tools/report')
const { childrenOf, processes } = require('../../support/processes')

const LEAKY = path.join(__dirname, '..', '..', '..', 'examples', 'leaky.js')
const fixture = (/** @type {string} */ name) => path.join(__dirname, '..', '..', 'fixtures', name)

/**
 * A drill of one worker that ends, by its stop under load, after its first recycle, unless it has a duration, or
 * figures that are enough.
 *
 * @param {any} t
 * @param {Record<string, any>} options of the drill
 * @param {(figures: any) => boolean} [isEnough]
 */
async function run (t, options, isEnough = ({ recycles }) => recycles >= 1) {
  const enough = new AbortController()
  const outcome = await drill({
    workers: 1,
    connections: 10,
    duration: '60s',
    rate: 300, // a second: without one the clients take a CPU
    recycleEvery: '50ms',
    interval: '100ms',
    stopLinger: '200ms',
    signal: enough.signal,
    ...options,
    onProgress (figures) {
      options.onProgress?.(figures)
      if (isEnough(figures)) enough.abort()
    }
  })
  t.teardown(() => { if (!options.out) fs.rmSync(path.dirname(outcome.file), { recursive: true }) })
  const lines = fs.readFileSync(outcome.file, 'utf8').trimEnd().split('\n').map(line => JSON.parse(line))
  return { ...outcome, all: (/** @type {string} */ event) => lines.filter(line => line.event === event) }
}

t.test('a drill that kills workers', async t => {
  const outcome = await run(t, { app: fixture('plain.js'), workers: 2, recycleEvery: undefined, kill: '200ms' }, ({ kills }) => kills >= 2)
  const { requests, dropped, kills, recycles, sockets, exitCode, file, all } = outcome
  t.ok(kills >= 2)
  t.equal(recycles, 0)
  t.equal(exitCode, dropped > 0 ? 1 : 0, outcome.sentence)
  t.match(outcome.sentence, /^[\d,]+ dropped of [\d,]+ requests over \d+ kills, \d+ connections? reopened/)
  t.equal(all('worker.crash').filter(({ signal }) => signal === 'SIGKILL').length, kills)
  t.match(all('client.end'), [{ kills, sockets }])
  const { report } = await readReport([file])
  t.match(report, { requests, dropped, crashes: kills, client: { kills, sockets } })
  t.match(report.verdict.text, new RegExp(`over ${kills} kills; ${kills} crashes`))
})

t.test('a drill of an app that loses nothing', async t => {
  process.env.PORT = ''
  const figures = []
  const out = path.join(t.testdir(), 'run.ndjson')
  fs.writeFileSync(out, 'of an earlier run\n')
  const outcome = await run(t, {
    app: LEAKY, workers: 2, rate: undefined, out, onProgress: now => figures.push(now)
  }, ({ recycles }) => recycles >= 2)
  const { requests, dropped, recycles, sockets, file, all } = outcome
  t.match(outcome, { verdict: 'clean', exitCode: 0, dropped: 0, file: out, sentence: /^0 dropped of [\d,]+ requests over \d+ recycles$/ })
  t.ok(recycles >= 2)
  t.equal(process.env.PORT, '', 'PORT is as it was')

  t.test('writes the journal and the records of the clients to the run file', async t => {
    t.match(all('client.start'), [{ v: 1, connections: 10, isAlone: true, durationMs: 60_000, keepAlive: true, method: 'GET', path: '/', rate: null, expect: [[200, 399]], loadWorkers: 1, url: outcome.url }])
    t.match(all('client.end'), [{ v: 1, requests, dropped, sockets }])
    t.equal(all('client.tick').reduce((sum, tick) => sum + tick.requests, 0), requests)
    t.equal(all('recycled').length, recycles)
    t.equal(all('fleet.start').length, 1)
    t.equal(all('fleet.stop').length, 1)
  })

  t.test('recycles slot by slot', async t => {
    const slots = all('recycled').map(({ slot }) => slot)
    t.same(slots, slots.map((_, i) => i % 2))
    t.ok(all('recycled').every(({ reason }) => reason === 'requested'))
  })

  t.test('continues the load until the fleet has stopped', async t => {
    const [stopping] = all('fleet.stopping')
    t.ok(all('client.tick').some(({ t, ms, requests }) => t + ms > stopping.t && requests > 0))
    t.ok(all('stopped').every(({ cut }) => cut === 0))
  })

  t.test('reports its progress', async t => {
    t.same([...new Set(figures.map(({ phase }) => phase))].filter(phase => phase !== 'booting').slice(0, 2), ['load', 'stopping'])
    t.match(figures.at(-1), { requests, dropped, recycles, durationMs: 60_000 })
  })

  t.test('can be read by the report, with the same result', async t => {
    const { report } = await readReport([file])
    t.match(report, { requests, dropped, recycles, verdict: { ok: true } })
  })
})

t.test('with a budget, only the budget recycles', async t => {
  const { verdict, recycles, all } = await run(t, { app: fixture('plain.js'), maxRequests: 200, recycleEvery: undefined })
  t.equal(verdict, 'clean')
  t.ok(recycles > 0)
  t.ok(all('recycled').every(({ reason }) => reason === 'requests'))
})

t.test('a POST, two load processes, a rate', async t => {
  const { verdict, all } = await run(t, { app: fixture('plain.js'), method: 'post', body: 'x'.repeat(5000), path: '/here', header: 'X-Drill: yes', loadWorkers: 2, rate: 300 })
  t.equal(verdict, 'clean')
  t.match(all('client.start'), [{ method: 'POST', path: '/here', rate: 300, loadWorkers: 2 }])
})

t.test('an app that drops: each drop is named', async t => {
  const noted = path.join(t.testdir({ noted: '' }), 'noted')
  const { verdict, exitCode, dropped, errors, sentence, all } = await run(t, { app: fixture('dropping.js'), args: [noted] }, ({ recycles, dropped }) => recycles >= 1 && dropped > 0)
  t.equal(exitCode, 1)
  t.equal(verdict, 'dropped')
  t.equal(dropped, fs.statSync(noted).size, 'as many as the app reset')
  t.same(errors, { reset: dropped })
  t.match(sentence, /^[\d,]+ dropped of [\d,]+ requests over \d+ recycles? \([\d,]+ reset\)$/)
  const drops = all('client.drop')
  t.equal(drops.length, dropped)
  t.ok(drops.every(({ error, status, method, path, localPort, t: at, startedAt }) =>
    error === 'reset' && status === null && method === 'GET' && path === '/' && localPort > 0 && startedAt <= at))
})

t.test('a request that only the supervisor saw cut makes the drill inconclusive', async t => {
  process.env.PORT = ''
  const app = path.join(t.testdir({
    'app.js': `const http = require('node:http')
http.createServer((request, response) => { if (request.url !== '/never') response.end('ok') }).listen(process.env.PORT, () => {
  http.get({ port: process.env.PORT, path: '/never' }).on('error', () => {}) // a client beside the load's
})
`
  }), 'app.js')
  const { all, ...outcome } = await run(t, { app, drainTimeout: '200ms' })
  t.ok([...all('recycled'), ...all('stopped')].some(({ cut }) => cut > 0))
  t.match(outcome, { verdict: 'inconclusive', exitCode: 2, dropped: 0, sentence: /^0 dropped of [\d,]+ requests over \d+ recycles?, but the supervisor reports \d+ cut, 0 unaccounted for$/ })
})

t.test('an app that answers nothing but errors drops everything, and the load counts as arrived', async t => {
  const { exitCode, dropped, requests, errors } = await run(t, { app: fixture('plain.js'), expect: '404' })
  t.equal(exitCode, 1)
  t.equal(dropped, requests)
  t.same(errors, { status: dropped })
})

t.test('an app of which each request ends its worker drops everything, and the load counts as arrived', async t => {
  const app = path.join(t.testdir({ 'app.js': "require('node:http').createServer(() => process.exit(3)).listen(process.env.PORT)\n" }), 'app.js')
  const outcome = await run(t, { app, workers: 1, connections: 2, duration: '300ms', failover: false })
  t.match(outcome, { verdict: 'dropped', exitCode: 1, sentence: /^([\d,]+) dropped of \1 requests? over/ })
})

t.test('requests in flight at the stop are answered', async t => {
  // At a rate: without one, all clients ask at the same moment, and none has a request in flight at the next
  const { verdict, all } = await run(t, { app: fixture('plain.js'), path: '/slow?ms=400', rate: 20 })
  t.equal(verdict, 'clean')
  t.ok(all('stopped').some(({ finished }) => finished > 0), 'there were some')
})

t.test('an app that ignores PORT is found at its address', async t => {
  const socket = path.join(os.tmpdir(), `drill-${process.pid}.sock`)
  const { verdict, url } = await run(t, { app: fixture('own-address.js'), args: [socket] })
  t.equal(verdict, 'clean')
  t.equal(url, `unix:${socket}`)
})

t.test('an HTTPS app, a connection for each request, by a URL', async t => {
  const app = path.join(t.testdir({
    'app.js': `
      const fs = require('node:fs')
      const read = extension => fs.readFileSync(${JSON.stringify(fixture('localhost.'))} + extension)
      require('node:https').createServer({ key: read('key'), cert: read('crt') }, (request, response) => response.end('ok')).listen(process.env.PORT)
    `
  }), 'app.js')
  const port = await freePort()
  const { verdict, url, sockets, requests } = await run(t, { app, url: `https://127.0.0.1:${port}`, keepAlive: false, expect: 200 })
  t.match({ url, sockets }, { url: `https://127.0.0.1:${port}`, sockets: requests })
  t.equal(verdict, 'clean')
})

t.test('inconclusive', async t => {
  const url = `http://127.0.0.1:${await freePort()}`
  const cases = {
    'no recycle took place': [{ app: fixture('plain.js'), duration: '300ms', recycleEvery: '1h' }, /^no recycle took place/],
    'no server listens there': [{ app: fixture('own-address.js'), args: ['0'], url }, new RegExp(`^the load never arrived: no connection to ${url} \\(ECONNREFUSED\\)`)],
    'the address of the app is unknown': [{ app: fixture('own-address.js'), args: ['0'] }, /^the load never arrived: the address of the app is not known/]
  }
  for (const [title, [options, sentence]] of Object.entries(cases)) {
    t.test(title, async t => {
      const outcome = await run(t, options)
      t.match(outcome, { verdict: 'inconclusive', exitCode: 2, sentence })
    })
  }

  t.test('another program answers', async t => {
    const other = http.createServer((request, response) => response.end('ok')).listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    t.teardown(() => other.close())
    const { port } = /** @type {import('node:net').AddressInfo} */ (other.address())
    const outcome = await run(t, { app: fixture('own-address.js'), args: ['0'], url: `http://127.0.0.1:${port}`, duration: '500ms', recycleEvery: '1h' })
    t.match(outcome, { verdict: 'inconclusive', exitCode: 2, sentence: /it is not this fleet$/ })
  })

  t.test('the app dies while it starts', async t => {
    const app = path.join(t.testdir({ 'app.js': 'process.exit(3)\n' }), 'app.js')
    const outcome = await run(t, { app })
    t.match(outcome, { verdict: 'inconclusive', exitCode: 2, requests: 0, sentence: /exited with code 3/ })
  })

  t.test('a load process stands still', async t => {
    let isStopped = false
    const outcome = await run(t, {
      app: fixture('plain.js'),
      duration: '500ms',
      timeout: '500ms',
      recycleEvery: '1h',
      onProgress ({ phase }) {
        const load = phase === 'load' && !isStopped && childrenOf(process.pid).find(({ pid }) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('load-process.js'))
        if (!load) return
        isStopped = true
        process.kill(load.pid, 'SIGSTOP')
      }
    })
    t.match(outcome, { verdict: 'inconclusive', exitCode: 2, sentence: 'a load process stands still: it has not answered for 5.5s' })
  })

  t.test('the server there does not speak HTTP', async t => {
    const app = path.join(t.testdir({ 'app.js': "require('node:net').createServer(socket => socket.end('no')).listen(process.env.PORT)\n" }), 'app.js')
    const outcome = await run(t, { app, duration: '200ms', drainTimeout: '100ms' })
    t.match(outcome, { exitCode: 2, sentence: /^the load never arrived: http:\S+ answered none of [\d,]+ requests/ })
  })
})

t.test('wrong options are refused before anything is started', async t => {
  const app = fixture('plain.js')
  await t.rejects(drill({ app, connections: 0 }), { code: 'RECYCLE_BAD_OPTION', message: 'connections was given 0; it takes a whole number from 1 to 100000' })
  await t.rejects(drill({ app, nonsense: 1 }), { code: 'RECYCLE_UNKNOWN_OPTION' })
  await t.rejects(drill({ app, journal: 'x' }), { code: 'RECYCLE_UNKNOWN_OPTION' })
  await t.rejects(drill({ app, workers: 0 }), { code: 'RECYCLE_BAD_OPTION' })
  await t.rejects(drill({ app, connections: 1, loadWorkers: 2 }), { code: 'RECYCLE_BAD_USAGE' })
  await t.rejects(drill({ app, out: path.join(t.testdir(), 'no', 'such', 'folder') }), { code: 'RECYCLE_JOURNAL' })
  await t.rejects(drill({ app: 'no-such-app.js' }), { code: 'RECYCLE_NO_APP' })
})

t.test('a drill that kills the supervisor: the next one adopts the workers, and no client notices', async t => {
  const outcome = await run(t, { app: fixture('plain.js'), workers: 2, recycleEvery: undefined, killPrimary: '300ms' }, ({ kills }) => kills >= 2)
  const { requests, dropped, primaryKills, sockets, exitCode, sentence, all } = outcome
  t.match({ dropped, exitCode, sockets }, { dropped: 0, exitCode: 0, sockets: 10 }, sentence)
  t.ok(primaryKills >= 2)
  t.match(sentence, /^0 dropped of [\d,]+ requests over .* and \d+ kills of the supervisor, supervised again within [\d.]+m?s, 0 connections reopened$/)
  t.equal(all('fleet.adopted').length, primaryKills)
  t.ok(requests > 0)
})

t.test('a drill that is ended in the middle of a kill of the supervisor leaves no process', async t => {
  const out = path.join(t.testdir(), 'run.ndjson')
  const ended = new AbortController()
  const timer = setInterval(() => { if (fs.existsSync(out) && fs.readFileSync(out, 'utf8').includes('worker.orphaned')) ended.abort() }, 5)
  const { all } = await run(t, { app: fixture('plain.js'), recycleEvery: undefined, killPrimary: '300ms', out, signal: ended.signal }, () => false)
  clearInterval(timer)
  const started = [...all('fleet.start'), ...all('worker.spawn')].map(({ pid }) => pid)
  t.ok(started.length >= 4, 'two supervisors, and their workers')
  t.same(processes().filter(({ pid, state }) => state !== 'Z' && started.includes(pid)), [])
})
