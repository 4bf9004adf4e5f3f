'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const readline = require('node:readline')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')

/** Listens, takes every descriptor, says how often its event loop turns meanwhile, and gives them back. */
const SERVER = `
  const fs = require('node:fs')
  const net = require('node:net')
  const { addon } = require(process.argv[1]).loadAddon()
  const taken = []
  const turns = () => performance.nodeTiming.uvMetricsInfo?.loopCount ?? 0
  const server = net.createServer(socket => socket.end('served')).listen(0, '127.0.0.1', () => {
    if (addon.guardQueue(-1)) addon.guardQueue(server._handle.fd)
    console.log(server.address().port)
    try {
      for (;;) taken.push(fs.openSync('/dev/null'))
    } catch {}
    process.stdin.once('data', () => {
      const before = turns()
      setTimeout(() => {
        console.log(turns() - before)
        for (const fd of taken) fs.closeSync(fd)
        addon.guardQueue(server._handle.fd)
      }, 300)
    })
  })`

t.test('where no descriptor is left, a connection waits in the queue, and the event loop does not turn for it', { skip: loadAddon().missing ?? false }, async t => {
  const command = 'ulimit -n 200; exec "$0" "$@"'
  const child = spawn('/bin/sh', ['-c', command, process.execPath, '-e', SERVER, require.resolve('../../lib/native/addon')], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = readline.createInterface({ input: child.stdout })
  const [port] = await once(lines, 'line')
  const clients = Array.from({ length: 5 }, () => net.connect(Number(port), '127.0.0.1').setEncoding('utf8'))
  await Promise.all(clients.map(client => once(client, 'connect')))
  const answers = clients.map(client => new Promise(resolve => {
    client.on('data', resolve).on('error', resolve).on('close', resolve)
  }))
  child.stdin.write('\n')
  const [turns] = await once(lines, 'line')
  t.ok(Number(turns) < 100, `${turns} turns in 300 ms`)
  t.same(await Promise.all(answers), Array(5).fill('served'))
})
