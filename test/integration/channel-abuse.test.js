'use strict'

/** What an app can send to the primary beside its own messages: no more may come of it than that its worker is replaced. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { clientPerWorker, get, keepAsking } = require('../support/client')

const APP = path.join(FIXTURES, 'victim.js')

/** @param {any} t */
async function startVictims (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const cli = await startCli(t, ['-w', '2', '-i', '50ms', '--drain-timeout', '2s', '--kill-timeout', '1s', APP], { env: { DEEDS: folder } })
  await cli.events.until('worker.ready', { count: 2 })
  /** @param {number} pid @param {string} deed */
  const tell = (pid, deed) => {
    fs.writeFileSync(path.join(folder, String(pid)), deed)
    process.kill(pid, 'SIGUSR2')
  }
  return { ...cli, tell }
}

t.test('a worker that forges messages of cluster, of recycle, or writes into its channel is named and replaced, and a request to another one is not affected', async t => {
  const { port, child, events, tell } = await startVictims(t)
  for (const [i, deed] of ["sends messages like cluster's", 'writes into its channel', 'sends messages like ours'].entries()) {
    const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
    its.destroy()
    const stop = keepAsking(port, '/others', others)
    tell(bad, deed)
    t.match(await events.until('worker.protocol-error', { where: line => line.pid === bad, timeoutMs: 10_000 }), { pid: bad }, deed)
    t.match(await events.until('recycled', { count: i + 1 }), { oldPid: bad, reason: 'protocol-error' })
    t.same((await stop()).failures, [], deed)
    t.equal(child.exitCode, null)
  }
  t.match(await get(port), { status: 200 })
  t.equal(events.all('worker.protocol-error').length, 3)
})

t.test('10,000 messages a second, and messages of 1 MB, cost neither the primary nor another worker anything', async t => {
  const { port, child, events, tell } = await startVictims(t)
  const [[bad, its], [, others]] = [...(await clientPerWorker(t, port, 2, 'x-pid'))]
  its.destroy()
  const stop = keepAsking(port, '/others', others)
  tell(bad, 'floods the primary')
  await setTimeout(300)
  tell(bad, 'sends 1 MB messages')
  await setTimeout(700)
  const { requests, failures } = await stop()
  t.same(failures, [])
  t.ok(requests > 20, `${requests} requests`)
  t.equal(child.exitCode, null)
  t.same(events.all('worker.crash'), [])
})
