'use strict'

const { spawn } = require('node:child_process')
const net = require('node:net')
const { setImmediate, setTimeout } = require('node:timers/promises')
const t = require('tap')
const { CloseWithoutReset } = require('../../../lib/primary/sockets/close-without-reset')

const BACKLOG = 511

/** @param {(client: any) => void} onconnection */
function listen (onconnection) {
  const handle = /** @type {any} */ (net)._createServerHandle('127.0.0.1', 0, 4)
  handle.onconnection = (/** @type {number} */ _, /** @type {any} */ client) => onconnection(client)
  handle.listen(BACKLOG)
  const bound = /** @type {any} */ ({})
  handle.getsockname(bound)
  return { handle, port: bound.port }
}

t.test('with other connections in the queue it is not empty, and an accepted one is told from the test connection', async t => {
  /** @type {any[]} */
  const accepted = []
  const { handle, port } = listen(client => accepted.push(client))
  const closing = new CloseWithoutReset(handle, BACKLOG)
  const client = net.connect(port, '127.0.0.1')
  await new Promise(process.nextTick) // connected, and the loop has not turned: no process has accepted it
  t.notOk(await closing.isTight())
  while (accepted.length < 3) await setImmediate()
  t.same(accepted.map(one => closing.isOurs(one)), [false, true, true])
  t.ok(await closing.isTight(), 'the queue is empty again')
  handle.close()
  closing.pull()
  client.destroy()
  for (const one of accepted) one.close()
})

t.test('no client is reset when a socket is closed, even late: a connection is accepted or refused', async t => {
  const program = `
    const net = require('node:net')
    const errors = {}
    let open = 0
    const one = () => {
      open++
      let error
      net.connect({ host: '127.0.0.1', port: Number(process.argv[1]) })
        .on('connect', () => process.send?.('connected'))
        .on('error', err => { error = err.code; errors[err.code] = (errors[err.code] ?? 0) + 1 })
        .on('data', () => {})
        .on('close', () => { open--; if (!error) one(); else if (open === 0) process.send(errors, () => process.exit()) })
    }
    for (let i = 0; i < 8; i++) one()`
  for (let round = 0; round < 5; round++) {
    let served = 0
    const { handle, port } = listen(client => {
      served++
      client.close() // the next one connects at once
    })
    const child = spawn(process.execPath, ['-e', program, String(port)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    t.teardown(() => child.kill('SIGKILL'))
    await new Promise(resolve => child.on('message', () => { if (served > 100) resolve(undefined) }))
    const errors = new Promise(resolve => child.on('message', message => { if (message !== 'connected') resolve(message) }))
    const closing = new CloseWithoutReset(handle, BACKLOG)
    while (!await closing.isTight()) await setTimeout(10)
    const until = Date.now() + 50
    while (Date.now() < until); // as if the operating system delayed the close for this long
    handle.close()
    closing.pull()
    t.strictSame(Object.keys(/** @type {any} */ (await errors)), ['ECONNREFUSED'])
  }
})
