'use strict'

/** Every form and option of server.listen(), in a worker and in plain Node: the same address, mode and error. */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startFleet, freePort } = require('../support/fleet')
const { appFile } = require('./under-load')

const LATE = 'the socket comes from the primary, in a later turn, as under cluster'
/**
 * The differences and their reasons; see lib/worker/accepting/listen-hook.js.
 *
 * @type {Record<string, { why: string, is: RegExp }>}
 */
const DIFFERENT = {
  'twice in one turn': { why: LATE, is: /"port":"FREE"},"isServed":true,"hears":\["listening"\]/ },
  'a descriptor of a file': { why: 'it is a descriptor of the primary, as under cluster', is: /"error":"E[A-Z]+"/ },
  'a path of 9,000 bytes': { why: 'no Linux takes it, nor does a message to the primary', is: /"error":"ENAMETOOLONG","syscall":"listen"/ },
  'another server': { why: 'a server that listens has no handle to share', is: /"error":"EINVAL","syscall":"listen"/ }
}

/** @param {any} t */
async function prepare (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')) // short: the kernel takes ~100 bytes
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  return Object.assign(
    process.env, { FOLDER: folder, PORT_1: String(await freePort()), PORT_3: String(await freePort()) }
  )
}

/** @param {any} t @returns {Promise<Record<string, string>>} */
async function inPlainNode (t) {
  await prepare(t)
  const child = fork(appFile('listens.js'), { env: { ...process.env, PORT: String(await freePort()) } })
  const [{ outcomes }] = await once(child, 'message')
  child.kill()
  await once(child, 'exit')
  return outcomes
}

t.test('server.listen() has the same result in a worker as in plain Node', async t => {
  const taken = net.createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  process.env.PORT_2 = String(/** @type {net.AddressInfo} */ (taken.address()).port)

  const expected = await inPlainNode(t)
  await prepare(t)
  const { told, events } = await startFleet(t, appFile('listens.js'), { workers: 1 })
  const { outcomes } = await told.until('outcomes')
  t.ok(Object.keys(expected).length > 70)
  for (const [name, outcome] of Object.entries(expected)) {
    const different = DIFFERENT[name]
    if (different) t.match(outcomes[name], different.is, `${name}: ${different.why}`)
    else t.equal(outcomes[name], outcome, name)
  }
  t.same(events.all('worker.crash'), [])
})

const CUTS = parseInt(process.versions.node) < 24
t.test('a path that is too long for the kernel is cut as plain Node cuts it, and the fleet stops', { skip: !CUTS && 'this Node refuses it' }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const socketPath = path.join(folder, 'x'.repeat(300))
  process.env.WHERE = JSON.stringify({ path: socketPath })
  const { supervisor, told } = await startFleet(t, appFile('somewhere.js'), { workers: 1 })
  t.equal((await told.until('listening')).address, socketPath)
  const client = net.connect(socketPath)
  await once(client, 'connect')
  client.destroy()
  await supervisor.recycle(0)
  await supervisor.stop()
})
