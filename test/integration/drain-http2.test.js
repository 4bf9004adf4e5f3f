'use strict'

const t = require('tap')
const http2 = require('node:http2')
const net = require('node:net')
const tls = require('node:tls')
const { once } = require('node:events')
const { Duplex } = require('node:stream')
const { pattern } = require('../fixtures/pattern')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')

/** @param {string} url */
async function open (url) {
  const session = http2.connect(url, { rejectUnauthorized: false })
  session.on('error', () => {}) // its streams emit the error too
  await once(session, 'connect')
  return session
}

/** @param {http2.ClientHttp2Session} session @param {string} path @param {Buffer} [body] */
async function fetch (session, path, body) {
  const stream = session.request({ ':path': path, ':method': body ? 'POST' : 'GET' })
  stream.end(body)
  return read(stream)
}

/** @param {http2.ClientHttp2Stream} stream */
async function read (stream) {
  let headers = {}
  stream.on('response', received => { headers = received })
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return { status: headers[':status'], pid: Number(headers['x-pid']), body: Buffer.concat(chunks) }
}

/** A session that can pause reading: what arrives meanwhile waits. @param {string} url */
async function openDeafening (url) {
  const { protocol, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const where = { host: '127.0.0.1', port: Number(port) }
  const socket = isSecure ? tls.connect({ ...where, rejectUnauthorized: false, ALPNProtocols: ['h2'] }) : net.connect(where)
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  let isDeaf = false
  /** @type {(Buffer | null)[]} */
  let waiting = []
  const duplex = new Duplex({
    read () {},
    write: (chunk, encoding, done) => socket.write(chunk, done),
    final: done => socket.end(done)
  })
  const hear = (/** @type {Buffer | null} */ chunk) => isDeaf ? waiting.push(chunk) : duplex.push(chunk)
  socket.on('data', hear).on('end', () => hear(null)).on('error', error => duplex.destroy(error))
  const session = http2.connect(url, { createConnection: () => duplex })
  session.on('error', () => {})
  await once(session, 'connect')
  return {
    session,
    setDeaf (value) {
      isDeaf = value
      for (const chunk of waiting) hear(chunk)
      waiting = []
    }
  }
}

/**
 * Requests one after the other, opening a new session when the old one has received GOAWAY. A request that was not sent
 * because the first GOAWAY was read just before is repeated: Node's own client refuses it, and no server can prevent
 * it. A request that the server refuses is a failure, and comes with the second GOAWAY.
 */
class Walker {
  failures = []
  unsent = 0
  answered = 0
  sessions = 0
  /** @param {string} url */
  constructor (url) {
    this.url = url
    this.isStopping = false
    this.done = this.#walk()
  }

  async #walk () {
    let session = null
    let goaways = 0
    while (!this.isStopping) {
      if (session === null || goaways > 0 || session.closed) {
        session?.close()
        session = await open(this.url)
        this.sessions++
        goaways = 0
        session.on('goaway', () => { goaways++ })
      }
      try {
        const { status, body } = await fetch(session, '/')
        if (status !== 200 || String(body) !== 'ok') this.failures.push(status)
        this.answered++
      } catch (error) {
        await new Promise(setImmediate)
        if (goaways === 1 && error.message.includes('REFUSED_STREAM')) this.unsent++
        else this.failures.push(error.message)
      }
    }
    session?.destroy()
  }
}

for (const isSecure of [false, true]) {
  const protocol = isSecure ? 'h2 over TLS' : 'h2c'
  t.test(`${protocol}: a drain sends GOAWAY and no stream fails (nginx: worker_shutdown_timeout_h2.t)`, async t => {
    const fleet = await startTellingFleet(t, 'streams.js', { args: isSecure ? ['--tls'] : [] })
    const { port, told } = fleet
    const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`

    t.test('streams in flight finish', async t => {
      const session = await open(url)
      const goaway = once(session, 'goaway')
      const flying = [1, 2, 3].map(() => fetch(session, '/drained'))
      const reading = fetch(session, '/bytes')
      const posting = session.request({ ':path': '/', ':method': 'POST' })
      const posted = read(posting)
      const already = told.all('requested').length
      await afterTold(told, 'post', () => posting.write(Buffer.alloc(1000)))
      await told.until('requested', { count: already + 3 })
      const idle = await open(url)
      await fetch(idle, '/')
      const idleGoaway = once(idle, 'goaway')

      const drain = await beginDrain(fleet)
      const [code] = await goaway
      t.equal(code, http2.constants.NGHTTP2_NO_ERROR)
      await idleGoaway
      posting.end(Buffer.alloc(1_000_000))
      t.equal(String((await posted).body), '1001000')
      for (const { status, pid, body } of await Promise.all(flying)) {
        t.equal(status, 200)
        t.equal(pid, drain.pid)
        t.equal(String(body), 'drained')
      }
      t.ok((await reading).body.equals(pattern(4 * 1024 * 1024)))
      const line = await drain.recycled
      checkAccount(t, line)
      t.equal(line.connections, 2)
      t.equal(line.aborted, 0)
      session.close()
      idle.close()
    })

    t.test(isSecure ? 'a stream that the client opens before it reads the GOAWAY is refused as not processed' : 'a stream that the client opens before it reads the GOAWAY is answered', async t => {
      const { session, setDeaf } = await openDeafening(url)
      await fetch(session, '/')
      let goaways = 0
      session.on('goaway', () => { goaways++ })
      setDeaf(true)
      const drain = await beginDrain(fleet)
      const late = fetch(session, '/').catch(error => ({ status: error.message }))
      if (!isSecure) await afterTold(told, 'post', () => fetch(session, '/', Buffer.alloc(10)))
      t.equal(goaways, 0)
      setDeaf(false)
      const { status, pid } = await late
      if (isSecure) t.match(status, 'NGHTTP2_REFUSED_STREAM', 'the client may repeat it')
      else t.equal(status, 200)
      if (!isSecure) t.equal(pid, drain.pid)
      session.close()
      checkAccount(t, await drain.recycled)
    })

    t.test('clients that open a new session after GOAWAY see no failure through two recycles', async t => {
      const walkers = Array.from({ length: 6 }, () => new Walker(url))
      for (let i = 0; i < 2; i++) checkAccount(t, await fleet.supervisor.recycle(0))
      for (const walker of walkers) walker.isStopping = true
      await Promise.all(walkers.map(walker => walker.done))
      for (const { failures, answered, sessions } of walkers) {
        t.same(failures, [], `of ${answered}`)
        t.ok(answered > 3)
        t.ok(sessions > 2)
      }
    })
  })
}
