'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const readline = require('node:readline')
const t = require('tap')
const { BIN, FIXTURES, Events } = require('../support/fleet')
const { controlRoom } = require('../support/control')
const { becomesTrue, runToEnd } = require('../support/processes')

/**
 * `recycle tail …`, line by line.
 *
 * @param {any} t tap's
 * @param {Record<string, string>} env
 * @param {string[]} args
 */
function tail (t, env, args) {
  const child = spawn(process.execPath, [BIN, 'tail', ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const events = new Events()
  readline.createInterface({ input: child.stdout }).on('line', text => events.push(args.includes('--json') ? JSON.parse(text) : { event: 'line', text }))
  return { child, events, exited: once(child, 'close') }
}

t.test('tail follows a fleet that has no journal, to its end', async t => {
  const room = controlRoom(t)
  const { child, events } = await room.start(2, ['--name', 'api', path.join(FIXTURES, 'plain.js')])
  const pretty = tail(t, room.env, [])
  const raw = tail(t, room.env, ['--json', '--last', '100'])
  const now = tail(t, room.env, ['--json', '-n', '0'])
  await Promise.all([raw, now].map(({ events }) => events.until('worker.sample', { count: 2 })))
  await pretty.events.until('line', { where: ({ text }) => / ready slot 1 /.test(text) })

  const over = tail(t, room.env, ['--no-follow', '-n', '1'])
  t.same(await over.exited, [0, null], 'with --no-follow it ends, and the fleet goes on')
  t.equal(over.events.lines.length, 1)
  t.match(await room.recycle(['recycle', '0']), { code: 0 })
  child.kill('SIGTERM')
  for (const { exited } of [pretty, raw, now]) t.same(await exited, [0, null], 'it exits 0 when the fleet has ended')

  const said = pretty.events.lines.map(({ text }) => text)
  t.match(said[0], /^\d\d:\d\d:\d\d recycle \d+ starts 2 workers of /)
  t.ok(said.some(text => /^\d\d:\d\d:\d\d recycled slot 0, \d+ → \d+ \(requested\): 0 cut, /.test(text)))
  t.match(said.at(-1), /^\d\d:\d\d:\d\d stopped after 1 recycles?$/)
  t.notMatch(said.join('\n'), /\x1b|worker\.sample|fleet\.memory/) // eslint-disable-line no-control-regex

  const logged = events.lines.map(line => line.event)
  t.same(raw.events.lines.map(line => line.event).filter(event => event !== 'worker.sample' && event !== 'fleet.memory'), logged, 'every line logged, from the first one')
  for (const line of raw.events.lines) t.match(line, { v: 1, t: Number, event: String })
  t.notOk(now.events.all('fleet.start').length, '--last sets how many earlier lines are printed')
  t.equal(now.events.all('recycled').length, 1)
})

t.test('a tail that is not read reads no more itself, and says at the end that it has been cut off', async t => {
  const { folder, env } = controlRoom(t)
  fs.mkdirSync(folder, { mode: 0o700 })
  let readBytes = () => 0
  let hangUp = () => {}
  const server = net.createServer(socket => {
    const say = (/** @type {any} */ message) => socket.write(`${JSON.stringify({ v: 1, ...message })}\n`)
    say({ hello: { name: 'api', pid: 1, app: 'app.js', version: '0' } })
    socket.on('error', () => {}).on('data', chunk => {
      const { id } = JSON.parse(String(chunk))
      const line = `${JSON.stringify({ v: 1, id, event: { v: 1, t: 0, event: 'x', padding: 'x'.repeat(1000) } })}\n`
      for (let n = 0; n < 400; n++) socket.write(line.repeat(50))
      readBytes = () => socket.bytesWritten - socket.writableLength
      hangUp = () => socket.destroy()
    })
  }).listen(path.join(folder, 'api.sock'))
  t.teardown(() => server.close())
  await once(server, 'listening')
  const child = spawn(process.execPath, [BIN, 'tail', '--json', '--control', path.join(folder, 'api.sock')], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', chunk => { said += chunk })
  child.stdout.pause()
  let seen = -1
  let since = Date.now()
  t.ok(await becomesTrue(() => {
    if (readBytes() !== seen || seen < 1) [seen, since] = [readBytes(), Date.now()]
    return Date.now() - since > 500
  }))
  t.ok(seen < 4e6, `${seen} of 20 MB were read`)
  hangUp()
  child.stdout.resume()
  t.same(await once(child, 'close'), [1, null])
  t.match(said, /^recycle: the fleet closed the connection: what is printed here was not read in time\n$/)
})

t.test('a tail goes on with the next primary: a line may follow the one that says so, and a primary that exits may greet no more, or not read', async t => {
  const { folder, env, recycle } = controlRoom(t)
  fs.mkdirSync(folder, { mode: 0o700 })
  const file = path.join(folder, 'api.sock')
  const event = (/** @type {string} */ name) => ({ event: { v: 1, t: 0, event: name } })
  const greet = (/** @type {net.Socket} */ socket, /** @type {(say: (message: any) => void) => void} */ onFollow) => {
    const say = (/** @type {any} */ message) => socket.write(`${JSON.stringify({ v: 1, ...message })}\n`)
    say({ hello: { name: 'api', pid: 1, app: 'app.js', version: '0' } })
    socket.on('data', chunk => onFollow(message => say({ id: JSON.parse(String(chunk)).id, ...message })))
  }
  /** Takes the place of the one before. @param {(socket: net.Socket) => void} serve */
  const lead = async serve => {
    const server = net.createServer(socket => serve(socket.on('error', () => {}))).listen(`${file}.new`)
    t.teardown(() => server.close())
    await once(server, 'listening')
    fs.renameSync(`${file}.new`, file)
  }
  const last = () => lead(socket => greet(socket, say => {
    say(event('fleet.stop'))
    say({ result: { isLeft: false } })
  }))
  const doesNotRead = () => lead(socket => greet(socket, () => last().then(() => socket.destroy())))
  const doesNotGreet = () => lead(socket => doesNotRead().then(() => socket.destroy()))
  await lead(socket => greet(socket, say => doesNotGreet().then(() => {
    say(event('fleet.left'))
    say(event('worker.children'))
    say({ result: null }) // as an earlier version
  })))
  const { code, stdout, stderr } = await recycle(['tail', '--json', '--name', 'api'], env)
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.same(stdout.trimEnd().split('\n').map(line => JSON.parse(line).event), ['fleet.left', 'worker.children', 'fleet.stop'])
})

t.test('`| head` ends it', async t => {
  const room = controlRoom(t)
  await room.start(1, ['--name', 'api', path.join(FIXTURES, 'plain.js')])
  const { code, stdout } = await runToEnd(['/bin/sh', '-c', `"${process.execPath}" "${BIN}" tail --json | head -n 12`], { env: room.env })
  t.equal(code, 0)
  t.equal(stdout.trimEnd().split('\n').length, 12)
})

t.test('wrong usage', async t => {
  t.match(await controlRoom(t).recycle(['tail', '-n', 'all']), { code: 2, stdout: '', stderr: 'recycle: --last was given "all"; it takes a whole number\n' })
})
