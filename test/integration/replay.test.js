'use strict'

/** Requests that are not answered move to another worker with their connection. */

const t = require('tap')
const { sumOfEnds } = require('../support/fleet')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')
const { RawClient, head } = require('../support/raw-client')

/** Of more headers than it keeps, Node 20 leaves some out; later ones refuse the request. */
const LEAVES_OUT = process.version.startsWith('v20.')
const MANY = Array.from({ length: 200 }, (_, i) => `X${i}: 1`)

/** @param {any} response */
const said = response => JSON.parse(response.body)

/** @param {any} fleet @param {string} bytes a whole request @returns {Promise<RawClient>} its request is parked */
async function park ({ port, told }, bytes) {
  const client = await RawClient.connect(port)
  await afterTold(told, 'parked', () => client.send(bytes))
  return client
}

t.test('with --replay-after 0 a parked poll moves when its worker drains, and its replacement answers it', async t => {
  const fleet = await startTellingFleet(t, 'polls.js', { replayAfter: 0 })
  const { told } = fleet
  const odd = [
    'GET /poll?x=%C3%A9&rewrite HTTP/1.1', 'hOsT: here', 'X-Twice: 1', 'x-twice: 2', 'X-Latin: caf\xe9', 'X-Empty:', 'Cookie: a=b; c=d', 'Content-Length: 0'
  ]
  const client = await park(fleet, Buffer.from([...odd, '', ''].join('\r\n'), 'latin1'))
  const before = told.all('parked')[0]
  const drain = await beginDrain(fleet)
  const again = await told.until('parked', { count: 2 })
  const closed = await told.until('closed')
  t.equal(closed.pid, before.pid, 'the old handler hears close')
  t.ok(told.lines.indexOf(closed) < told.lines.indexOf(again), 'before the new one begins')
  t.not(again.pid, before.pid)
  t.match(again, { replayed: 1, method: 'GET', url: '/poll?x=%C3%A9&rewrite' }, 'what the app has written over its request is not the client\'s')
  t.same(again.headers, ['hOsT', 'here', 'X-Twice', '1', 'x-twice', '2', 'X-Latin', 'caf\xe9', 'X-Empty', '', 'Cookie', 'a=b; c=d', 'Content-Length', '0'])
  const line = await drain.recycled
  checkAccount(t, line)
  t.match(line, { connections: 1, inFlight: 1, moved: 1, replayed: 1, finished: 0, aborted: 0 })
  process.kill(again.pid, 'SIGUSR2')
  t.match(said((await client.received(1))[0]), { pid: again.pid, replayed: 1 })
  t.match(said(await client.fetch('/')), { pid: again.pid, replayed: 0 }, 'the connection goes on')
  t.equal(client.responses.length, 2, 'one answer each')
  await client.close()
})

t.test('by default it moves at the drain timeout, in place of being cut; what cannot move is cut', async t => {
  const fleet = await startTellingFleet(t, 'polls.js', { drainTimeout: '700ms' })
  const { told } = fleet
  const moving = {
    get: head('GET', '/poll'),
    head: head('HEAD', '/poll'),
    options: head('OPTIONS', '/poll'),
    old: 'GET /poll HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    marked: head('DELETE', '/poll?mark'),
    'a marked POST without a body': head('POST', '/poll?mark', 'Content-Length: 0')
  }
  const staying = {
    post: head('POST', '/poll', 'Content-Length: 0'),
    delete: head('DELETE', '/poll'),
    'a body': head('GET', '/poll', 'Content-Length: 2') + '{}',
    chunks: head('GET', '/poll', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    'a body, marked': head('POST', '/poll?mark', 'Content-Length: 2') + '{}',
    upgrade: head('GET', '/poll', 'Connection: upgrade', 'Upgrade: h2c'),
    pinned: head('GET', '/poll?pin'),
    hint: head('GET', '/poll?hint'),
    'a head': head('GET', '/poll?head'),
    'bytes of its own': head('GET', '/poll?raw'),
    ...(LEAVES_OUT && {
      'more headers than Node keeps': head('GET', '/poll', ...MANY),
      'a body behind them': head('GET', '/poll', ...MANY, 'Content-Length: 2') + '{}'
    }),
    'half of the next request': head('GET', '/poll') + 'GET /nex'
  }
  /** @type {Record<string, RawClient>} */
  const clients = {}
  for (const [name, bytes] of Object.entries({ ...moving, ...staying })) clients[name] = await park(fleet, bytes)
  const pipelining = await park(fleet, head('GET', '/poll') + head('GET', '/'))
  const parked = told.all('parked').length
  const drain = await beginDrain(fleet)
  const line = await drain.recycled
  t.ok(line.drainMs >= 695, 'not before')
  t.equal(sumOfEnds(line), line.connections)
  const count = Object.keys(moving).length
  t.match(line, { moved: count, replayed: count, cut: Object.keys(staying).length + 1 })
  for (const [name, { localPort, responses }] of Object.entries(clients)) {
    const wasCut = line.cuts.some(cut => cut.remotePort === localPort)
    t.equal(wasCut, name in staying, `${name} is ${name in staying ? 'cut' : 'not cut'}`)
    t.equal(responses.filter(({ status }) => status >= 200).length, 0)
  }
  t.equal(line.cuts.filter(({ remotePort }) => remotePort === pipelining.localPort).length, 2, 'each pipelined request is named')
  // The old worker may be gone before the new one has handled them
  await told.until('parked', { count: parked + count })
  t.equal(told.all('parked').length, parked + count)
  process.kill(told.all('parked').at(-1).pid, 'SIGUSR2')
  for (const name of Object.keys(moving)) {
    // Whose response has a length, and no body
    if (name !== 'head') t.match(said((await clients[name].received(1))[0]), { replayed: 1 }, name)
  }
  t.same(told.all('parked').filter(({ replayed }) => replayed === 1).map(({ method }) => method).sort(), ['DELETE', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST'])
  for (const client of [...Object.values(clients), pipelining]) await client.close()
})

t.test('--replay off: they are cut', async t => {
  const fleet = await startTellingFleet(t, 'polls.js', { drainTimeout: '300ms', replay: 'off' })
  const client = await park(fleet, head('GET', '/poll'))
  const line = await (await beginDrain(fleet)).recycled
  t.match(line, { replayed: 0, moved: 0, cut: 1 })
  await client.ended()
})

t.test('a poll moves from replacement to replacement, and its request counts them', async t => {
  const fleet = await startTellingFleet(t, 'polls.js', { replayAfter: 0 })
  const client = await park(fleet, head('GET', '/poll'))
  for (let i = 1; i <= 3; i++) {
    const drain = await beginDrain(fleet)
    checkAccount(t, await drain.recycled)
    t.match(await fleet.told.until('parked', { count: i + 1 }), { replayed: i })
  }
  process.kill(fleet.told.all('parked').at(-1)?.pid, 'SIGUSR2')
  t.match(said((await client.received(1))[0]), { replayed: 3 })
  await client.close()
})
