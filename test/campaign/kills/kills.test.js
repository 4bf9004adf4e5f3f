'use strict'

/**
 * Workers that are killed, with a fixed seed. `npm run campaign -- --kills 10000` kills as many as it is told; see
 * docs/contributing.md.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { extent } = require('../../support/campaign')
const { RawClient } = require('../../support/raw-client')
const { judge } = require('./judge')
const { killWorkers } = require('./run')

const KILLS = extent({ short: 40, long: 1000 }) // a boot for each takes most of the time
const SEED = 52

t.setTimeout(1_200_000) // it says nothing of speed

t.test('a worker that is killed costs no request that another one can handle', { skip: loadAddon().addon === null && 'the addon is not there' }, async t => {
  const { kills, requests, ends, violations } =
    await killWorkers({ kills: KILLS, seed: SEED, thinkMs: extent({ short: 120, long: 40 }) })
  t.same(violations, [])
  t.ok(kills >= KILLS && requests > 10 * KILLS, `${kills} kills, ${requests} requests, ${JSON.stringify(ends)}`)
  t.ok(ends.moved > KILLS && ends.replayed > KILLS / 4, 'connections went on in other workers')
})

t.test('the judge finds a request that no kill explains', async t => {
  const exchange = { kind: 'GET', port: 5000, startedAt: 10_000, t: 10_020, ageMs: 3000, outcome: '502' }
  const crash = { time: 10_010, cuts: [{ remotePort: 5000, deaths: 1 }] }
  const of = (/** @type {any} */ change, crashes = [crash]) =>
    judge([{ ...exchange, ...change }], crashes).violations.length
  t.equal(of({}), 0, 'two workers have died with it')
  t.equal(of({ outcome: 'answered' }, []), 0)
  t.equal(of({ outcome: 'closed', ageMs: 100 }), 0, 'its connection was young')
  t.equal(of({ outcome: 'closed', ageMs: 500 }), 0, 'and that at the death')
  t.equal(of({ outcome: 'closed', ageMs: 520 }), 1)
  t.equal(of({ outcome: 'closed', ageMs: 0 }), 0, 'it had no answer yet')
  t.equal(of({ outcome: 'timeout', ageMs: 0 }), 1)
  t.equal(of({ outcome: 'closed', kind: 'a connection a request' }), 0)
  t.equal(of({ kind: 'upload' }, [{ ...crash, cuts: [{ remotePort: 5000 }] }]), 0)
  t.equal(of({}, [{ ...crash, cuts: [{ remotePort: 5000 }] }]), 1, 'one worker has')
  t.equal(of({}, [{ ...crash, cuts: [] }]), 1, 'the journal does not name it')
  t.equal(of({}, []), 1, 'no worker has died')
  t.equal(of({}, [{ ...crash, cuts: [{ remotePort: 5000 }] }, crash]), 0, 'its port has been another connection\'s')
  for (const outcome of ['closed', 'ECONNRESET', 'timeout', 'other bytes', 'closed as it was idle']) t.equal(of({ outcome }), 1, outcome)
  t.equal(of({ kind: 'upload', outcome: 'ECONNRESET' }), 1)
})

t.test('a client that is late knows a reset from an end', async t => {
  const server = spawn(process.execPath, ['-e', `
    const server = require('node:net').createServer(socket => socket.once('data', how => {
      socket.write('HTTP/1.1 200 OK\\r\\n\\r\\na part')
      setTimeout(() => String(how) === 'end' ? socket.end() : socket.resetAndDestroy(), 20)
    })).listen(0, '127.0.0.1', () => console.log(server.address().port))`], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => server.kill('SIGKILL'))
  const port = Number(String((await once(server.stdout, 'data'))[0]))
  for (const [how, isCutShort] of /** @type {const} */ ([['reset', true], ['end', false]])) {
    const client = await RawClient.connect(port)
    client.send(how)
    const until = Date.now() + 200
    while (Date.now() < until);
    await client.ended()
    t.equal(client.isCutShort || client.error === 'ECONNRESET', isCutShort, how)
    await client.close()
  }
})
