'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const { text } = require('node:stream/consumers')
const v8 = require('node:v8')
const vm = require('node:vm')
const t = require('tap')
const { MoldControl } = require('../../../lib/features/fork/forked-process')
const { loadAddon } = require('../../../lib/native/addon')
const { becomesTrue } = require('../../support/processes')
const { startMold, skip } = require('../../support/mold')

/** @param {import('node:child_process').ChildProcess} child */
async function ask (child, question, ...args) {
  const answer = once(child, 'message')
  child.send([question, ...args])
  return (await answer)[0]
}

t.test('a copy is a process of its own', { skip }, async t => {
  const { mold, forkOne } = await startMold(t, 'speaks.js')
  const asked = performance.now()
  const children = [1, 2].map(n => forkOne({ RECYCLE_TEST: `number ${n}` }))
  t.same(children.map(({ pid }) => pid), [undefined, undefined], 'the pid comes later')
  const forked = children.map(child => once(child, 'forked')) // a copy may speak before its mold tells its pid
  await Promise.all([...forked, ...children.map(child => child.said)])
  const identities = await Promise.all(children.map(child => ask(child, 'identity')))
  const sinceMs = performance.now() - asked
  for (const [i, { pid, ppid, real, uptime, clockSkewMs, env, descriptors }] of identities.entries()) {
    t.equal(pid, children[i].pid)
    t.equal(pid, real)
    t.equal(ppid, mold.pid)
    t.ok(uptime * 1000 < sinceMs, 'it is no older than its fork', { uptime, sinceMs })
    t.ok(clockSkewMs < 50, 'performance and Date agree', { clockSkewMs })
    t.equal(env[0], `number ${i + 1}`)
    t.equal(descriptors, identities[0].descriptors, 'none is left over')
  }
})

t.test('its channel carries messages and sockets, each to its own', { skip }, async t => {
  const { forkOne } = await startMold(t, 'speaks.js')
  const children = [forkOne(), forkOne()]
  await Promise.all(children.map(child => child.said))
  const long = 'x'.repeat(1e6)
  t.same(await Promise.all(children.map((child, i) => ask(child, 'echo', [i, long]))), [[0, long], [1, long]])

  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  for (const child of children) {
    const accepted = once(server, 'connection')
    const client = net.connect(server.address().port, '127.0.0.1')
    const [socket] = await accepted
    const answer = once(child, 'message')
    child.send(['echo', 'with a socket'], socket)
    t.equal(await text(client), `from ${child.pid}`)
    t.equal((await answer)[0], 'with a socket')
  }
  const down = children.map(child => once(child, 'exit'))
  for (const child of children) child.disconnect()
  t.same(await Promise.all(down), [[0, null], [0, null]], 'which was all that kept it')
})

t.test('its output is its own, whole under pressure too', { skip }, async t => {
  const { forkOne } = await startMold(t, 'speaks.js')
  const children = [forkOne(), forkOne()]
  await Promise.all(children.map(child => child.said))
  await Promise.all(children.map((child, i) => ask(child, 'write', 3e6 + i)))
  for (const child of children) child.disconnect()
  const ended = await Promise.all(children.map(child => child.ended))
  t.same(ended.map(({ out }) => out.length), [3e6, 3e6 + 1])
  t.same(ended.map(({ err }) => err), ['to stderr\n', 'to stderr\n'])
})

t.test('it can be killed before it is there', { skip }, async t => {
  const { forkOne } = await startMold(t, 'speaks.js')
  const child = forkOne()
  t.equal(child.kill('SIGKILL'), true)
  t.match(await child.ended, { code: null, signal: 'SIGKILL' })
})

t.test('a mold that retires ends with its last copy, and forks no more', { skip }, async t => {
  const { mold, control, forkOne } = await startMold(t, 'speaks.js')
  const child = forkOne()
  await child.said
  mold.kill('SIGSTOP')
  for (let i = 0; i < 2; i++) control.retire() // it reads both at once
  mold.kill('SIGCONT')
  t.equal(await ask(child, 'echo', 'still here'), 'still here')
  t.equal(mold.exitCode, null)
  const gone = Promise.all([once(mold, 'exit'), once(control.socket, 'close')])
  child.disconnect()
  t.match(await child.ended, { code: 0, signal: null })
  t.same((await gone)[0], [0, null])
  t.throws(() => forkOne(), { code: 'ESRCH', syscall: 'spawn' }, 'there is no mold to fork from')
})

t.test('a copy outlives its mold, and how it ends is unknown', { skip }, async t => {
  const { mold, forkOne } = await startMold(t, 'speaks.js')
  const child = forkOne()
  const forked = once(child, 'forked')
  await Promise.all([child.said, forked])
  const gone = once(mold, 'exit')
  mold.kill('SIGKILL')
  await gone
  t.equal(await ask(child, 'echo', 'still here'), 'still here')
  const ended = once(child, 'exit')
  child.disconnect()
  t.same(await ended, [null, 'unknown'])
})

t.test('what the primary holds of a copy is released once it has ended', { skip }, async t => {
  const { forkOne } = await startMold(t, 'speaks.js')
  const released = async () => {
    const child = forkOne()
    await child.said
    child.disconnect()
    await child.ended
    return new WeakRef(child)
  }
  const held = [await released(), await released()]
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc')
  t.ok(await becomesTrue(() => {
    collect()
    return held.every(ref => ref.deref() === undefined)
  }, 5000))
})

t.test('what is no answer of a mold refuses it: the app has written to its descriptor', { skip }, async t => {
  for (const text of ['hello', 'null', '{"forked":1,"pid":1}', '{"frozen":"true"}', '{"ended":{}}', 'x'.repeat(70_000)]) {
    const control = new MoldControl(/** @type {any} */ (loadAddon().addon))
    const refused = once(control, 'refused')
    fs.writeSync(control.inherited, `${text}\n`)
    const [why] = await refused
    t.match(why, `the app writes to the file descriptor by which its mold answers the primary (${JSON.stringify(text.slice(0, 40))})`)
    control.started()
  }
})
