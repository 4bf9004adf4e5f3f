'use strict'

/**
 * Bad input, by fast-check: nothing may throw what is not a RecycleError, hang, or say more than one sentence. Each
 * target reads what comes from outside: a user, a file, a socket, the kernel, a worker.
 *
 * @typedef {{ name: string, fuzz: (property: { numRuns: number, seed: number }, folder: string) => Promise<void> }}
 *   Target
 */

const assert = require('node:assert')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const fc = require('fast-check')
const { findHierarchy, readFigure, readLimit, readPressure, readQuota } = require('../../lib/core/cgroup')
const { readConfig } = require('../../lib/cli/config-contents')
const { RecycleError } = require('../../lib/core/errors')
const { FROM_WORKER, flawOf } = require('../../lib/tables/message')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { isReplaySafe, toWire } = require('../../lib/core/request-replay')
const { Lines, readRequest, writeError } = require('../../lib/control/protocol')
const { readJournal } = require('../../lib/journal/reader')
const { answer, createServer } = require('../../lib/operate/admin/server')
const { readArgs } = require('../../lib/operate/control-args')
const { parseSmaps } = require('../../lib/primary/measuring/meter/procfs')
const { Figures } = require('../../lib/tools/report/figures')
const { renderPage } = require('../../lib/tools/report/page')
const { formatReport } = require('../../lib/tools/report/table')
const { main } = require('../../lib/cli/program')
const { assertBounded } = require('../features/failover/given-on')

// They would act, or wait
const COMMANDS = ['run', 'drill', 'stop', 'reload', 'recycle', 'scale', 'upgrade', 'gc', 'heapdump', 'leak', 'cpuprofile', 'top', 'tail', 'help']
const EVENTS = ['fleet.start', 'fleet.memory', 'worker.spawn', 'worker.ready', 'worker.sample', 'worker.condemn', 'worker.drain', 'worker.retire', 'worker.crash', 'recycled', 'scaled', 'stopped', 'collected', 'heapdump', 'worker.memory', 'client.start', 'client.second', 'client.drop', 'client.end', 'fleet.stop']
const FIELDS = ['v', 't', 'slot', 'pid', 'oldPid', 'reason', 'options', 'budget', 'rssBytes', 'cut', 'cuts', 'moved', 'connections', 'inFlight', 'drainMs', 'readyMs', 'app', 'url', 'error', 'method', 'path', 'localPort', 'requests', 'routes', 'gc', 'latency', 'lost', 'file']

const word = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '0', '-1', '1e999', 'auto', 'none', 'NaN', '512MiB', '30s', '__proto__', 'constructor', '\u0000', '</script>', '%s', '../..', '🂡'.repeat(50)))
const number = fc.oneof(
  fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, -0, NaN, Infinity, 2 ** 53, 1e300)
)
const value = fc.oneof(word, number, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }))

/** @param {unknown} error */
function checkError (error) {
  if (!(error instanceof RecycleError)) throw error
  assert(error.message.length < 2000 && !error.message.includes('\n'), `one sentence: ${error.message}`)
}

/** @param {() => unknown} act it may only refuse by a RecycleError */
function orRefused (act) {
  try {
    return act()
  } catch (error) {
    checkError(error)
  }
}

/**
 * Runs the command line here, and gives what it says.
 *
 * @param {string[]} args
 * @returns {Promise<string[]>} lines on stderr
 */
async function commandLine (args) {
  const { stdout, stderr } = process
  const { write: out } = stdout
  const { write: err } = stderr
  let said = ''
  stdout.write = () => true
  stderr.write = (/** @type {any} */ chunk) => {
    said += chunk
    return true
  }
  try {
    await main(['node', 'recycle', ...args])
  } finally {
    stdout.write = out
    stderr.write = err
    for (const stream of [stdout, stderr]) stream.removeAllListeners('error')
    process.exitCode = 0
  }
  return said.split('\n').filter(Boolean)
}

/** @type {Target[]} */
const TARGETS = [
  {
    name: 'command line',
    fuzz: (runs) => {
      const flag = fc.constantFrom(...OPTIONS.map(({ flag }) => flag.split(' ')[0]))
      const arg = fc.oneof(word, flag, fc.tuple(flag, word).map(pair => pair.join('=')), fc.stringMatching(/^--?[a-z-]{1,12}$/))
      const start = fc.constantFrom(['--print-config'], ['--print-config'], ['report', '--json'], ['status'], ['ls'], ['completion'])
      return fc.assert(fc.asyncProperty(start, fc.array(arg, { maxLength: 6 }), async (start, args) => {
        const said = await commandLine([...start, ...args.filter(arg => !COMMANDS.includes(arg) && !arg.includes('/dev') && !/^-?-?(config|c|o|out|html)\b/.test(arg))])
        assert(said.length <= 1, `one sentence: ${said.join('\n')}`)
        assert(said.every(line => /^recycle: |^no fleet is running, /.test(line)), said.join('\n'))
      }), runs)
    }
  },
  {
    name: 'options and config file',
    fuzz: async runs => {
      const values = fc.dictionary(fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...OPTIONS.map(({ name }) => name)) }, { weight: 1, arbitrary: word }
      ), value, { maxKeys: 6 })
      fc.assert(fc.property(values, fc.boolean(), (values, isFile) => {
        orRefused(() => resolveOptions(isFile ? {} : values, { parallelism: 2, file: isFile ? { name: 'recycle.config.json', values } : null }))
      }), runs)
      fc.assert(fc.property(fc.oneof(value, fc.dictionary(word, value)), content => { orRefused(() => readConfig(content, 'recycle.config.json')) }), runs)
    }
  },
  {
    name: 'control socket',
    fuzz: async runs => {
      const request = fc.record({ v: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: value }), id: fc.oneof(fc.nat(), value), verb: fc.oneof(fc.constantFrom('recycle', 'gc', 'heapdump', 'cpuprofile', 'scale', 'upgrade', 'stop', 'follow', 'status'), word), target: value, file: value, workers: value, last: value, now: value, durationMs: value }, { requiredKeys: [] })
      fc.assert(fc.property(fc.oneof(word, request.map(request => JSON.stringify(request))), line => {
        try {
          const { verb, args } = readRequest(line)
          readArgs(verb, args)
        } catch (error) {
          checkError(error)
          JSON.stringify(writeError(error))
        }
      }), runs)
      fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(200)), (bytes, cuts) => {
        const split = (/** @type {number[]} */ at) => {
          const lines = new Lines(1000)
          const ends = [...at.filter(at => at < bytes.length).sort((a, b) => a - b), bytes.length]
          return ends.flatMap((end, i) => lines.push(Buffer.from(bytes.slice(i === 0 ? 0 : ends[i - 1], end))).lines)
        }
        assert.deepStrictEqual(split(cuts), split([]), 'however it is cut into chunks')
      }), runs)
    }
  },
  {
    name: 'messages of a worker',
    fuzz: async runs => fc.assert(fc.property(fc.oneof(fc.constantFrom(...Object.keys(FROM_WORKER)), value), fc.dictionary(fc.oneof(word, fc.constantFrom('id', 'key', 'query', 'parcel', 'account', 'gc', 'session')), value), value, (type, fields, handle) => {
      const flaw = flawOf(FROM_WORKER, /** @type {any} */ ({ cmd: 'NODE_RECYCLE', ...fields, type }), handle)
      assert(flaw === null || (typeof flaw === 'string' && !flaw.includes('\n')))
    }), runs)
  },
  {
    name: 'journal reader',
    fuzz: async (runs, folder) => {
      const file = path.join(folder, 'journal')
      const line = fc.record({
        v: fc.oneof(fc.constant(1), value), t: number, event: fc.oneof(fc.constantFrom(...EVENTS), value)
      }, { requiredKeys: [] }).map(line => JSON.stringify(line))
      const text = fc.array(fc.oneof(word, line), { maxLength: 20 }).map(lines => Buffer.from(lines.join('\n')))
      const bytes = fc.oneof(text, fc.uint8Array({ maxLength: 300 })
        .map(Buffer.from), fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from([0x1f, 0x8b, ...bytes])))
      await fc.assert(fc.asyncProperty(bytes, async bytes => {
        fs.writeFileSync(file, bytes)
        try {
          for await (const line of readJournal(file)) assert(line.v === 1 && typeof line.event === 'string')
        } catch (error) {
          checkError(error)
        }
      }), runs)
    }
  },
  {
    name: 'report and its page',
    fuzz: async runs => {
      const fields = fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 12 })
      const lines = fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.integer({ min: 0, max: 100_000 }), fields)
        .map(([event, t, fields]) => ({ t, ...fields, v: 1, event })), { maxLength: 12 })
      fc.assert(fc.property(lines, lines => {
        const figures = new Figures()
        for (const line of lines) figures.add(JSON.parse(JSON.stringify(line)))
        const report = { ...figures.summary(), skippedLines: 0 }
        assert.strictEqual(typeof formatReport(report), 'string')
        const page = renderPage(report, figures.series())
        assert.strictEqual(page.match(/<\/script/gi)?.length, page.match(/<script/gi)?.length, 'no text of the journal ends a script')
      }), runs)
    }
  },
  {
    name: 'files of /proc and of cgroups',
    fuzz: async runs => {
      const text = fc.oneof(word, fc.array(fc.oneof(word, fc.constantFrom('Rss:', 'Pss:', 'Private_Dirty:', ' 12 kB', '\n', 'max', 'some avg10=', 'full avg10=1.5', '0::/', '1:memory:/a', ' - cgroup2 ', '/sys/fs/cgroup', '\\040', '..', '9'.repeat(400))), { maxLength: 30 }).map(parts => parts.join('')))
      const isFigure = (/** @type {unknown} */ figure) => figure === null || (typeof figure === 'number' && figure >= 0)
      fc.assert(fc.property(text, text, (a, b) => {
        for (const figure of Object.values(parseSmaps(a))) assert(isFigure(figure))
        assert(readLimit(a) === null || Number.isFinite(readLimit(a)))
        assert(['oom_kill', 'max', '9'].every(name => isFigure(readFigure(a, name))))
        const pressure = readPressure(a)
        assert(pressure === null || Object.values(pressure).every(isFigure))
        assert(isFigure(readQuota(a, b)))
        const { folders } = findHierarchy('memory', a, b) ?? { folders: [] }
        assert(folders.every(folder => !folder.split('/').includes('..') || b.includes('..')))
      }), runs)
    }
  },
  {
    name: 'heads that are replayed',
    fuzz: async runs => {
      const server = http.createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/)
      const field = fc.tuple(fc.oneof(token, fc.constantFrom('Host', 'Cookie', 'Content-Length', 'Transfer-Encoding', 'Expect', 'Connection', 'Upgrade')), fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.constantFrom('0', '5', 'chunked', 'close', '\u00fc\t x', 'a\r\n b')))
      const head = fc.tuple(fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'QUERY'), fc.oneof(fc.webPath(), fc.webUrl(), fc.string()), fc.constantFrom('1.1', '1.0'), fc.array(field, { maxLength: 6 }))
        .map(([method, url, version, fields]) => `${method} ${url} HTTP/${version}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
      try {
        await fc.assert(fc.asyncProperty(head, async text => {
          const first = await received(server, Buffer.from(text, 'latin1'))
          if (first.length !== 1 || !isReplaySafe(first[0])) return
          assert.deepStrictEqual(await received(server, toWire(first[0])), first, 'one request, and the same')
        }), runs)
      } finally {
        server.close()
      }
    }
  },
  {
    name: 'requests to the admin server',
    fuzz: async runs => {
      const server = createServer({ '/status': response => answer(response, 200, 'well') }, { host: '127.0.0.1', isPublic: false }).listen(0, '127.0.0.1')
      await once(server.ref(), 'listening')
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      const line = fc.oneof(word, fc.tuple(fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'TRACE', 'x'), fc.oneof(fc.constantFrom('/', '/metrics', '/healthz', '/readyz', '/status', '/events', '/%', '//', '/metrics?x=', '*'), fc.webPath(), word), fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9', '')).map(parts => parts.join(' ')))
      const header = fc.oneof(fc.constantFrom('Host: localhost', 'Host: 127.0.0.1', 'Host: evil.example', 'Connection: close', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Expect: 100-continue', 'Upgrade: websocket'), word)
      try {
        await fc.assert(fc.asyncProperty(line, fc.array(header, { maxLength: 6 }), word,
          async (line, headers, body) => {
            const said = await exchange(port, `${line}\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
            for (const [, status] of said.matchAll(/^HTTP\/1\.1 (\d+)/gm)) assert(Number(status) < 500 || status === '501' || status === '505', said)
          }), runs)
        assert.match(await exchange(port, 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'), /^HTTP\/1\.1 200 .*\r\n\r\nwell$/s, 'it answers as before')
      } finally {
        server.close()
        server.closeAllConnections()
      }
    }
  },
  {
    name: 'what a dying worker had read',
    fuzz: async runs => assertBounded(runs)
  }
]

/**
 * The heads of the requests that a server finds in these bytes.
 *
 * @param {http.Server} server @param {Buffer} bytes
 * @returns {Promise<import('../../lib/core/request-replay').Head[]>}
 */
async function received (server, bytes) {
  /** @type {any[]} */
  const heads = []
  const onRequest = (/** @type {http.IncomingMessage} */ request, /** @type {http.ServerResponse} */ response) => {
    heads.push({ method: request.method, url: request.url, version: request.httpVersion, headers: request.rawHeaders })
    response.end()
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  socket.end(bytes)
  await new Promise(resolve => socket.once('close', resolve))
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.removeListener(event, onRequest)
  return heads
}

/** @param {number} port @param {string} text @returns {Promise<string>} what came back, until the other side closes */
async function exchange (port, text) {
  const socket = net.connect(port, '127.0.0.1')
  let said = ''
  socket.setEncoding('latin1').on('error', () => {}).on('data', chunk => { said += chunk })
  socket.end(text)
  await new Promise(resolve => socket.once('close', resolve))
  return said
}

module.exports = { TARGETS }
