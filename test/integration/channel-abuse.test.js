'use strict'

/**
 * What an app can send to the primary beside its own messages: no more may come of it than that its worker is replaced.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { clientPerWorker, get, keepAsking } = require('../support/client')
const { becomesTrue } = require('../support/processes')

const APP = path.join(FIXTURES, 'victim.js')

const isGone = (/** @type {import('../support/fleet').Events} */ events, /** @type {number} */ bad) =>
  events.lines.some(({ event, pid }) => pid === bad && ['worker.crash', 'worker.retire'].includes(event))

/** @param {any} t */
async function startVictims (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const cli = await startCli(t, ['-w', '2', '-i', '50ms', '--drain-timeout', '2s', '--kill-timeout', '1s', APP], { cwd: folder, env: { DEEDS: folder } })
  await cli.events.until('worker.ready', { count: 2 })
  /** @param {number} pid @param {string} deed @returns {boolean} false: it has exited, for an earlier deed */
  const tell = (pid, deed) => {
    fs.writeFileSync(path.join(folder, String(pid)), deed)
    try {
      return process.kill(pid, 'SIGUSR2')
    } catch {
      return false
    }
  }
  return { ...cli, tell }
}

t.test('a worker that forges messages of cluster, of recycle, or writes into its channel is named and replaced, and a request to another one is not affected', async t => {
  const { port, child, events, tell } = await startVictims(t)
  for (const [i, deed] of ["sends messages like cluster's", 'writes into its channel', 'sends messages like ours'].entries()) {
    const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
    its.destroy()
    const stop = keepAsking(port, '/others', others)
    t.ok(tell(bad, deed))
    t.match(await events.until('worker.protocol-error', { where: line => line.pid === bad, timeoutMs: 10_000 }), { pid: bad }, deed)
    await events.until('worker.ready', { count: 3 + i })
    t.ok(await becomesTrue(() => isGone(events, bad)), 'replaced, or ended by what Node answered to a forged message')
    t.same((await stop()).failures, [], deed)
    t.equal(child.exitCode, null)
  }
  t.match(await get(port), { status: 200 })
  t.equal(events.all('worker.protocol-error').length, 3)
})

t.test('a worker that names descriptors of the primary to listen on gets none: the primary keeps its pipes and channels, and stops when told to', async t => {
  const { port, child, events, exited, tell } = await startVictims(t)
  const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
  its.destroy()
  const stop = keepAsking(port, '/others', others)
  t.ok(tell(bad, 'names descriptors of the primary'))
  await setTimeout(300)
  try {
    process.kill(bad, 'SIGKILL')
  } catch {} // it has been replaced for a message that cluster cannot read
  t.ok(await becomesTrue(() => isGone(events, bad)), 'its exit is noticed')
  await events.until('worker.ready', { count: 3, timeoutMs: 10_000 })
  t.same((await stop()).failures, [])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('a worker that has cluster open a TCP server and leaves, or sends a connection as a server, does not end the primary', async t => {
  const { port, child, events, tell } = await startVictims(t)
  for (const [deed, leaves] of /** @type {[string, boolean][]} */ ([['sends a connection as a server', false], ['has cluster open a TCP server', true]])) {
    const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
    its.destroy()
    const stop = keepAsking(port, '/others', others)
    tell(bad, deed)
    await setTimeout(300)
    if (leaves) await events.until('worker.ready', { count: 3 })
    t.same((await stop()).failures, [], deed)
    t.equal(child.exitCode, null)
  }
})

t.test('messages of every kind of recycle\'s, of the right shape and of no sense, end neither the primary nor another worker', async t => {
  const { port, child, events, tell } = await startVictims(t)
  for (let round = 0; round < 3; round++) {
    const [[bad, its], [other, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
    its.destroy()
    const stop = keepAsking(port, '/others', others)
    const isTold = tell(bad, 'sends messages of ours that make no sense')
    t.ok(isTold || round > 0)
    await setTimeout(400)
    t.same((await stop()).failures, [])
    t.equal(child.exitCode, null)
    t.same(events.all('worker.crash').filter(({ pid }) => pid === other), [])
  }
  t.same(events.all('worker.protocol-error').filter(({ flaw }) => flaw.startsWith('the primary failed')), [])
})

t.test('10,000 messages a second, and messages of 1 MB, cost neither the primary nor another worker anything', async t => {
  const { port, child, events, tell } = await startVictims(t)
  const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
  its.destroy()
  const stop = keepAsking(port, '/others', others)
  t.ok(tell(bad, 'floods the primary'))
  await setTimeout(300)
  tell(bad, 'sends 1 MB messages')
  await setTimeout(700)
  const { requests, failures } = await stop()
  t.same(failures, [])
  t.ok(requests > 20, `${requests} requests`)
  t.equal(child.exitCode, null)
  t.same(events.all('worker.crash'), [])
})
