'use strict'

/** No input on the control socket disturbs the fleet. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { connect } = require('../../lib/control/client')
const { readError } = require('../../lib/control/protocol')
const { openControl } = require('../../lib/operate/control')
const { startFleet } = require('../support/fleet')
const { shortFolder, rawClient } = require('../support/control')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')

/**
 * A client that is admitted, now or as soon as the end of another connection is noticed.
 *
 * @param {any} t tap's @param {string} file
 */
async function welcomed (t, file) {
  for (;;) {
    const client = await rawClient(t, file)
    if (client.heard[0].hello) return client
  }
}

const LIMITS = { lineMs: 200, idleMs: 1000, unreadBytes: 64 * 1024 }

t.test('a fleet under load', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, interval: '50ms' })
  const file = path.join(shortFolder(t), 'api.sock')
  const control = await openControl(supervisor, { control: file, limits: LIMITS })
  t.teardown(() => control.close())
  const listeners = supervisor.listenerCount('event')
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(50)
  const ask = (/** @type {any} */ client, /** @type {any} */ message) => client.socket.write(`${JSON.stringify({ v: 1, ...message })}\n`)

  await t.test('it greets, and answers with the id of the request', async t => {
    const client = await rawClient(t, file)
    t.match(client.heard[0], { v: 1, hello: { name: 'plain', pid: process.pid, app: /plain\.js$/, version: String } })
    ask(client, { id: 'a', verb: 'status' })
    ask(client, { id: 7, verb: 'status' })
    ask(client, { verb: 'status' })
    for (const id of ['a', 7, null]) t.match(await client.until(line => line.id === id && line.result), { v: 1, id, result: { v: 1, name: 'plain' } })
  })

  await t.test('an unreadable line is answered by an error, and the next line is read', async t => {
    const client = await rawClient(t, file)
    for (const line of ['hello?', '[]', '{"v":9,"id":1,"verb":"status"}', '{"v":1,"id":2,"verb":"toString"}', '{"v":1,"id":3,"verb":"recycle","target":"nobody"}', '\u0000\u0001', '{"v":1,"id":4,"verb":"scale","workers":{}}']) client.socket.write(`${line}\n`)
    ask(client, { id: 5, verb: 'status' })
    await client.until(line => line.id === 5 && line.result)
    const errors = client.heard.filter(line => line.error)
    t.same(errors.map(line => String(line.id)).sort(), ['1', '2', '3', '4', 'null', 'null', 'null'])
    for (const { error } of errors) t.match(error, { code: /^RECYCLE_(BAD_REQUEST|BAD_OPTION)$/, message: String })
    t.notOk(client.heard.some(line => line.ok && line.id !== 5), 'none of it was begun')
  })

  await t.test('arguments of a wrong type are refused with a sentence of the catalogue', async t => {
    const client = await rawClient(t, file)
    const odd = [{ toString: 1 }, [], [1], true, null, 1.5, {}]
    /** @type {[string, string, unknown[], RegExp][]} verb, argument, bad values, the sentence */
    const refused = [
      ...['recycle', 'gc', 'heapdump', 'cpuprofile'].map(verb => /** @type {any} */ ([verb, 'target', [...odd, undefined], /^the worker was given .*; it takes a slot, a pid or all, as text or a number$/])),
      ['scale', 'workers', [...odd, undefined, 'many', ''], /^workers was given .*; it takes a whole number from 1 to 1024, one with its sign, such as "\+1", or auto$/],
      ['stop', 'now', [{ toString: 1 }, [], null, 1, 'true'], /^now was given .*; it takes true or false$/],
      ['follow', 'last', [...odd, '5', -1], /^last was given .*; it takes a whole number$/],
      ['heapdump', 'file', [...odd, 5, 'relative'], /^file was given .*; it takes an absolute path$/],
      ['heapdump', 'then', [...odd, 'stop'], /^then was given .*; it takes recycle$/],
      ['cpuprofile', 'durationMs', [{ toString: 1 }, [], [1], true, null, '5'], /^durationMs was given .*; it takes a number of milliseconds$/]
    ]
    let id = 0
    for (const [verb, name, values, message] of refused) {
      for (const value of values) {
        id++
        ask(client, { id, verb, ...name !== 'target' && { target: 0 }, [name]: value })
        const { error } = await client.until(line => line.id === id && (line.error || line.result))
        t.match(error, { code: 'RECYCLE_BAD_OPTION', message }, `${verb} ${name} ${JSON.stringify(value)}`)
        t.equal(readError(error).message, error.message, 'the client gives the same error')
      }
    }
    t.notOk(client.heard.some(line => line.ok), 'none of it was begun')
  })

  await t.test('a line without end is answered by an error and closed', async t => {
    const client = await rawClient(t, file)
    client.socket.write('x'.repeat(1024 * 1024))
    await client.closed
    t.match(client.heard.at(-1), { id: null, error: { code: 'RECYCLE_CUT_OFF', message: /a line has more than 65536 bytes$/ } })
  })

  await t.test('a client that sends half a line is closed in time, also if it sends byte by byte', async t => {
    const client = await rawClient(t, file)
    client.socket.write('{"v":1,')
    const drip = setInterval(() => client.socket.write(' '), 20)
    t.teardown(() => clearInterval(drip))
    await client.closed
    t.match(client.heard.at(-1), { id: null, error: { code: 'RECYCLE_CUT_OFF', message: /a line was incomplete for 200 ms$/ } })
  })

  await t.test('a silent client is closed in time; a client that waits for an answer is not', async t => {
    const silent = await rawClient(t, file)
    const follower = await rawClient(t, file)
    ask(follower, { id: 1, verb: 'follow' })
    await silent.closed
    t.match(silent.heard.at(-1), { error: { message: /it was idle for 1000 ms$/ } })
    const heard = follower.heard.length
    await follower.until(line => line.event && follower.heard.indexOf(line) > heard)
  })

  await t.test('a follower that does not read is cut off', async t => {
    const client = await rawClient(t, file)
    ask(client, { id: 1, verb: 'follow' })
    await client.until(line => line.ok)
    t.ok(await becomesTrue(() => supervisor.listenerCount('event') === listeners + 1))
    client.socket.pause()
    // As a fleet of many workers writes them
    const line = { v: 1, t: Date.now(), event: 'worker.sample', padding: 'x'.repeat(10_000) }
    let bytes = 0
    for (const deadline = Date.now() + 20_000; supervisor.listenerCount('event') > listeners && Date.now() < deadline;) {
      supervisor.emit('event', line)
      bytes += 10_000
      await new Promise(resolve => setImmediate(resolve))
    }
    t.equal(supervisor.listenerCount('event'), listeners, 'there are no followers left')
    t.ok(bytes < 8 * 1024 * 1024, `soon after the buffer of the kernel is full: ${bytes} bytes`)
  })

  await t.test('there is room for 32 clients; the next is refused, and when one leaves there is room again', async t => {
    const clients = await Promise.all(Array.from({ length: 32 }, () => rawClient(t, file)))
    const one = await rawClient(t, file)
    await one.closed
    t.match(one.heard, [{ id: null, error: { code: 'RECYCLE_CUT_OFF', message: /it has 32 clients already$/ } }])
    await t.rejects(connect(file), { code: 'RECYCLE_NO_ANSWER', message: /it has 32 clients already/ })
    clients[0].socket.destroy()
    await welcomed(t, file)
    for (const { socket } of clients) socket.destroy()
  })

  await t.test('at most sixteen requests at a time', async t => {
    /** @type {string[]} */
    const warnings = []
    const onWarning = (/** @type {Error} */ { message }) => warnings.push(message)
    process.on('warning', onWarning)
    t.teardown(() => process.removeListener('warning', onWarning))
    const client = await welcomed(t, file)
    for (let id = 1; id <= 17; id++) ask(client, { id, verb: 'follow' })
    const { id } = await client.until(line => line.error)
    t.equal(id, 17)
    t.same(warnings, [], 'the supervisor emits no event for it')
  })

  await t.test('a verb completes although its client disconnects', async t => {
    const client = await connect(file)
    await client.call('recycle', { target: 1 }, { wait: false })
    client.close()
    t.match(await events.until('recycled'), { slot: 1, reason: 'requested', cut: 0 })
    await t.rejects(client.call('status'), { code: 'RECYCLE_FLEET_GONE' })
  })

  await t.test('several verbs under way at once, by several clients', async t => {
    const [a, b] = await Promise.all([connect(file), connect(file)])
    t.teardown(() => [a, b].forEach(client => client.close()))
    const [first, second, status] = await Promise.all([
      a.call('recycle', { target: 'all' }), b.call('recycle', { target: supervisor.status().workers[0].pid }), a.call('status')
    ])
    t.match([first.done.length, second.done.length, status.totals.workers], [2, 1, 2])
  })

  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 10, 'no client ever reconnected')
  t.match(supervisor.status().totals, { workers: 2, ready: 2 })
})

t.test('at the end each request is answered, each follower gets the last line, and the socket is removed', async t => {
  const { supervisor } = await startFleet(t, 'plain.js', { workers: 2, control: path.join(shortFolder(t), 'api.sock') })
  const file = supervisor.options.control
  const [one, follower, deaf] = await Promise.all([connect(file), connect(file), rawClient(t, file)])
  deaf.socket.pause()
  /** @type {string[]} */
  const heard = []
  const followed = follower.follow(line => heard.push(line.event), { last: 100 })
  const recycling = one.call('recycle', { target: 0 }).then(({ done }) => done[0].event, error => error.code)
  t.match(await one.call('stop'), { stopped: Array })
  await followed
  t.equal(heard[0], 'fleet.start', 'lines are kept from the first one on')
  t.equal(heard.at(-1), 'fleet.stop')
  t.match(await recycling, /^(RECYCLE_STOPPED|recycled)$/)
  await deaf.closed
  t.notOk(fs.existsSync(file))
})

t.test('a fleet of the library has no socket unless it is configured', async t => {
  const folder = shortFolder(t)
  process.env.RECYCLE_CONTROL_DIR = path.join(folder, 'sockets')
  t.teardown(() => { delete process.env.RECYCLE_CONTROL_DIR })
  await startFleet(t, 'plain.js', { workers: 1 })
  t.same(fs.readdirSync(folder), [])
  await startFleet(t, 'plain.js', { workers: 1, name: 'mine' })
  t.same(fs.readdirSync(path.join(folder, 'sockets')), ['mine.sock'])

  const { supervise } = require('../..')
  const second = supervise({ app: path.join(__dirname, '..', 'fixtures', 'plain.js'), workers: 1, name: 'mine' })
  const stopped = new Promise(resolve => second.once('stopped', resolve))
  await t.rejects(second.ready(), { code: 'RECYCLE_CONTROL_TAKEN', details: { pid: process.pid } })
  t.match(await stopped, { code: 'RECYCLE_CONTROL_TAKEN' })
  t.same(fs.readdirSync(path.join(folder, 'sockets')), ['mine.sock'], 'the socket of the other fleet is still there')
})
