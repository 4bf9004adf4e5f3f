'use strict'

/** Two fleets, as if on two machines, with one hub that they reach through a real Redis server. */

const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const readline = require('node:readline')
const t = require('tap')
const { startHub } = require('../../../examples/sprites/hub')
const { startFleet, startCli, freePort } = require('../../support/fleet')
const { lacking } = require('../../support/program')
const { Player, checkSprites } = require('../../support/sprites')

const SERVER = path.join(__dirname, '..', '..', '..', 'examples', 'sprites', 'server.js')

/** @param {any} t tap's @param {number} port */
async function startRedis (t, port) {
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => child.kill('SIGKILL'))
  for await (const line of readline.createInterface({ input: child.stdout })) if (line.includes('Ready to accept connections')) break
  child.stdout.resume()
  return () => {
    child.kill('SIGKILL')
    return once(child, 'exit')
  }
}

t.test('sprites fly between two fleets, over recycles of both and a restart of Redis that loses its data', { skip: lacking('redis-server') }, async t => {
  const redisPort = await freePort()
  const url = `redis://127.0.0.1:${redisPort}`
  const stopRedis = await startRedis(t, redisPort)
  const hub = await startHub(url)
  process.env.SPRITES_HUB = url
  const here = await startFleet(t, SERVER, { workers: 2, replayAfter: 0 })
  const there = await startCli(t, ['-w', '1', '--replay-after', '0', '--control', 'none', SERVER])
  await there.events.until('worker.ready')
  const players = await Promise.all(Array.from({ length: 12 }, (_, n) => new Player([here, there][n % 2].port).join()))
  t.teardown(async () => {
    await Promise.all(players.map(player => player.close()))
    await hub.close()
  })
  const throwAll = (/** @type {string} */ round) => Promise.all(players.map((player, n) => player.throw(['right', 'down', 'any'][n % 3], `${round}-${n}`)))

  await Promise.all([throwAll('a'), here.supervisor.recycle(0)])
  there.child.kill('SIGHUP') // reloads
  await Promise.all([here.supervisor.recycle(0), here.supervisor.recycle(1), there.events.until('fleet.reloaded')])
  await throwAll('b') // to polls that have all moved
  await checkSprites(t, players, 24)
  t.same(players.flatMap(({ errors }) => errors), [])
  t.ok(players.reduce((sum, { moves }) => sum + moves, 0) > 0, 'polls have moved')
  t.match(hub.stats(), { desktops: 12, thrown: 24 })

  await stopRedis()
  const thrown = throwAll('c')
  await startRedis(t, redisPort)
  await thrown
  await checkSprites(t, players, 36)
  t.match(hub.stats(), { desktops: 12, thrown: 36, vanished: 0 })
})
