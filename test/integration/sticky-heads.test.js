'use strict'

/**
 * `--sticky`: a request that moves is the client's to the byte: the worker that has it sees what a process without
 * workers sees.
 */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startFleet, freePort, FIXTURES } = require('../support/fleet')
const { RawClient, head } = require('../support/raw-client')

const WORKERS = 2
const SESSIONS = ['a', 'b', 'c', 'd', 'e']
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** More than the app's Node keeps: 20 leaves some out, later ones refuse the request. */
const many = Array.from({ length: 200 }, (_, i) => `X${i}: 1`)
const behindMany = (/** @type {string[]} */ ...last) => head('POST', '/', 'X-Session: *', ...many, ...last)

/** Each in the parts in which it is sent. `*` is the session. @type {Record<string, string[]>} */
const STRICT = {
  'a Content-Length behind 200 headers': [behindMany(`Content-Length: ${SMUGGLED.length}`) + SMUGGLED],
  'a Transfer-Encoding behind 200 headers': [behindMany('Transfer-Encoding: chunked') + `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`],
  'a head of 200 headers in three parts, its body in two': [
    head('POST', '/', 'X-Session: *').slice(0, -2), ...[many.slice(0, 90), many.slice(90)].map(some => some.map(line => `${line}\r\n`).join('')),
    `Content-Length: ${2 * SMUGGLED.length}\r\n\r\n${SMUGGLED}`, SMUGGLED
  ],
  'a head byte by byte at its end': ['POST / HTTP/1.1\r\nHost: localhost\r\nX-Session: *\r\nContent-Length: 2\r', '\n', '\r', '\n', 'o', 'k'],
  'case, spaces, tabs, repeats and octets': ['PUT /%20?a=b HTTP/1.1\r\nhOST:localhost\r\nX-SESSION:\t*  \r\nX: 1\r\nx:  2\r\nCookie: a\r\nCookie: b\r\nX-L: \xff\xe9\r\ncontent-length:0003\r\n\r\nabc'],
  'empty lines before the head, and trailers behind the body': ['\r\n', '\r\n' + head('POST', '/', 'X-Session: *', 'Transfer-Encoding: chunked', 'Trailer: T') + '1;x=y\r\na\r\n0\r\nT: 1\r\n\r\n'],
  'HTTP/1.0': ['GET / HTTP/1.0\r\nX-Session: *\r\nConnection: keep-alive\r\n\r\n'],
  'a request in the chunk that ends the one before': [head('POST', '/', 'Content-Length: 4') + 'ab', 'cd' + head('POST', '/second', 'X-Session: *', 'Content-Length: 4') + 'GET '],
  'a head whose begin came with the request before': [head('GET', '/') + 'POST /second HTTP/1.1\r\nHost: localhost\r\nX: ', `GET /x HTTP/1.1\r\nX-Session: *\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`]
}

/** What a strict parser refuses. @type {Record<string, string[]>} */
const LENIENT = {
  'lines that end in a bare LF': [`${head('POST', '/', 'X-Session: *', 'Content-Length: 2').replaceAll('\r', '')}ok`],
  'a folded Transfer-Encoding': [head('POST', '/', 'X-Session: *', 'Transfer-Encoding: chun\r\n ked', `Content-Length: ${SMUGGLED.length}`) + SMUGGLED],
  'Transfer-Encoding and Content-Length': [head('POST', '/', 'X-Session: *', 'Transfer-Encoding: chunked', 'Content-Length: 6') + `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`],
  'a folded header': [head('POST', '/', 'X-Session: *', 'X: a\r\n Content-Length: 3', `Content-Length: ${SMUGGLED.length}`) + SMUGGLED],
  'a value with a bare CR': [head('POST', '/', 'X-Session: *', 'X: a\rContent-Length: 3', `Content-Length: ${SMUGGLED.length}`) + SMUGGLED]
}

/**
 * Up to a refusal: what is sent to a server that has refused a request and closed is answered with a reset, which
 * throws away a refusal that is not read yet.
 *
 * @param {RawClient} client @param {string[]} parts @param {string} session
 * @param {number} [patienceMs] behind each part
 */
async function sendApart (client, parts, session, patienceMs = 10) {
  for (const part of parts) {
    if (client.isEnded) return
    client.send(Buffer.from(part.replaceAll('*', session), 'latin1'))
    await Promise.race([client.ended(), setTimeout(patienceMs)])
  }
}

/**
 * @param {number} port @param {string[]} parts @param {string} session @param {number} [patienceMs]
 * @returns {Promise<any[]>} what all responses say
 */
async function exchange (port, parts, session, patienceMs) {
  const client = await RawClient.connect(port)
  await sendApart(client, parts, session, patienceMs)
  if (!client.isEnded) client.socket.end(head('GET', '/last', 'Connection: close')) // is answered behind all others
  await client.ended()
  await client.close()
  return client.responses.map(({ status, body }) => status === 200 ? JSON.parse(String(body)) : status)
}

for (const [kind, cases, env] of /** @type {const} */ ([['a strict', STRICT, {}], ['a lenient', LENIENT, { LENIENT: '1' }]])) {
  t.test(`${kind} parser: the owner of a session sees what a process without workers sees`, async t => {
    Object.assign(process.env, env)
    t.teardown(() => { for (const name of Object.keys(env)) delete process.env[name] })
    const plainPort = await freePort()
    const plain = fork(path.join(FIXTURES, 'heads.js'), { env: { ...process.env, PORT: String(plainPort) } })
    t.teardown(() => plain.kill())
    await once(plain, 'message')
    const { port, supervisor } = await startFleet(t, 'heads.js', { workers: WORKERS, sticky: 'header:x-session' })
    for (const [name, parts] of Object.entries(cases)) {
      const expected = await exchange(plainPort, parts, SESSIONS[0], 150)
      const patienceMs = expected.every(answer => typeof answer === 'object') ? undefined : 1000
      const { moved } = supervisor.status().totals
      await Promise.all(SESSIONS.map(async session => {
        const wanted = JSON.stringify(expected).replace(/("X-Session"|"X-SESSION"),"a"/, `$1,"${session}"`)
        t.same(await exchange(port, parts, session, patienceMs), JSON.parse(wanted), `${name}: ${session}`)
      }))
      t.comment(`${name}: ${supervisor.status().totals.moved - moved} moved`)
    }
    t.ok(supervisor.status().totals.moved > 0)
  })
}

for (const [where, env] of /** @type {const} */ ([['', {}], [', and where the app reads each socket too', { TAPS: '1' }]])) {
  t.test(`a head in parts reaches the session's worker, also on a connection that has come from another worker${where}`, async t => {
    Object.assign(process.env, env)
    t.teardown(() => { for (const name of Object.keys(env)) delete process.env[name] })
    const { port, supervisor } = await startFleet(t, 'heads.js', { workers: WORKERS, sticky: 'header:x-session' })
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(port)))
    for (const client of clients) await client.fetch('/')
    for (const slot of [0, 1]) await supervisor.recycle(slot)
    /** @type {Record<string, Set<string>>} */
    const pids = {}
    for (let round = 0; round < 3; round++) {
      await Promise.all(clients.map(async (client, i) => {
        const session = SESSIONS[(round + i) % SESSIONS.length]
        const parts = ['POST / HT', 'TP/1.1\r\nHost: localhost\r\nX-Ses', 'sion: *\r\nContent-Length: 2\r\n', '\r\no', 'k']
        await sendApart(client, parts, session)
        const { status, headers, body } = (await client.received(2 + round))[1 + round]
        t.match({ status, ...JSON.parse(String(body)) }, { status: 200, method: 'POST', body: 'ok' });
        (pids[session] ??= new Set()).add(headers['x-pid'])
      }))
    }
    t.ok(Object.values(pids).every(({ size }) => size === 1), 'each session has one worker')
    t.equal(supervisor.status().totals.misplaced, 0)
    t.ok(clients.every(({ isEnded }) => !isEnded))
    for (const client of clients) await client.close()
  })
}
