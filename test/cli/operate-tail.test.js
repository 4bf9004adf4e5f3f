'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const readline = require('node:readline')
const t = require('tap')
const { BIN, FIXTURES, Events } = require('../support/fleet')
const { controlRoom } = require('../support/control')
const { runToEnd } = require('../support/processes')

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
