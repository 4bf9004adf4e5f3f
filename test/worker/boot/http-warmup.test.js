'use strict'

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const t = require('tap')

const WARMUP = path.join(__dirname, '..', '..', '..', 'lib', 'worker', 'boot', 'http-warmup.js')

/** Runs it in a process of its own. @param {string} before @param {string} after */
function run (before, after) {
  const program = `${before}; const answered = require(${JSON.stringify(WARMUP)}).warmUpHttp(); ${after}`
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 20_000 }))
}

const WATCH = `
  const seen = { answered, events: [] }
  const diagnostics = require('node:diagnostics_channel')
  for (const name of ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish', 'net.server.socket', 'net.client.socket']) {
    diagnostics.subscribe(name, () => seen.events.push(name))
  }
  for (const event of ['warning', 'uncaughtException', 'unhandledRejection']) process.on(event, error => seen.events.push(String(error)))
  new (require('node:perf_hooks').PerformanceObserver)(list => seen.events.push(...list.getEntries().map(entry => entry.name))).observe({ entryTypes: ['http', 'net'] })
  setTimeout(() => { seen.resources = process.getActiveResourcesInfo(); console.log(JSON.stringify(seen)) }, 200)
`

t.test('requests are answered, and later subscribers see nothing of it', async t => {
  const { answered, events, resources } = run('', WATCH)
  t.equal(answered, 5)
  t.same(events, [])
  t.notOk(resources.some((/** @type {string} */ resource) => /TCP|Pipe|HTTP/.test(resource) && !/^PipeWrap$/.test(resource)), resources.join())
})

t.test('a server created afterwards answers normally', async t => {
  const serve = `
    const http = require('node:http')
    const server = http.createServer((request, response) => response.end(request.url)).listen(0, '127.0.0.1', () => {
      http.get({ port: server.address().port, path: '/there' }, response => {
        response.setEncoding('utf8').on('data', body => console.log(JSON.stringify({ answered, status: response.statusCode, body }))).on('end', () => server.close())
      })
    })`
  t.same(run('', serve), { answered: 5, status: 200, body: '/there' })
})

t.test('its sockets are of the kind that clients have', async t => {
  const kinds = `
    const net = require('node:net')
    const { EventEmitter } = require('node:events')
    const kinds = []
    const { on } = EventEmitter.prototype
    EventEmitter.prototype.on = function (event, listener) {
      if (event === 'timeout') kinds.push(this.constructor === net.Socket)
      return on.call(this, event, listener)
    }`
  t.same(run(kinds, 'console.log(JSON.stringify({ answered, kinds }))'), { answered: 5, kinds: Array(5).fill(true) })
})

t.test('with a subscriber already there, no warm-up is done', async t => {
  const REPORT = 'console.log(JSON.stringify({ answered, seen }))'
  t.same(run('let seen = 0; const http = require("node:http"); const { emit } = http.Server.prototype; http.Server.prototype.emit = function (...of) { seen++; return emit.apply(this, of) }', REPORT), { answered: 0, seen: 0 })
  for (const name of ['http.server.request.start', 'http.server.response.finish']) {
    t.same(run(`let seen = 0; require("node:diagnostics_channel").subscribe(${JSON.stringify(name)}, () => seen++)`, REPORT), { answered: 0, seen: 0 }, name)
  }
})
