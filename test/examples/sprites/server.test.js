'use strict'

/** The sprites server under recycle: sprites fly while its workers are recycled, and while one is killed. */

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startHub } = require('../../../examples/sprites/hub')
const { startFleet } = require('../../support/fleet')
const { Player, send, checkSprites } = require('../../support/sprites')

const SERVER = path.join(__dirname, '..', '..', '..', 'examples', 'sprites', 'server.js')
const PLAYERS = 10
const THROWS = 4
const WORKERS = 2

/** @param {any} t tap's @param {number} [workers] */
async function start (t, workers = WORKERS) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sprites-')) // a socket's path may have 107 bytes
  const hub = await startHub(path.join(folder, 'hub'))
  process.env.SPRITES_HUB = path.join(folder, 'hub')
  const fleet = await startFleet(t, SERVER, { workers, replayAfter: 0 })
  t.teardown(async () => {
    await hub.close()
    fs.rmSync(folder, { recursive: true })
  })
  return { hub, ...fleet }
}

/** @param {any} t tap's @param {number} port @param {number} count */
async function play (t, port, count) {
  const players = await Promise.all(Array.from({ length: count }, () => new Player(port).join()))
  t.teardown(() => Promise.all(players.map(player => player.close())))
  return players
}

/** @param {Player[]} players @param {() => Promise<unknown>} meanwhile called each time that all have thrown one */
async function throwAll (players, meanwhile) {
  for (let i = 0; i < THROWS; i++) {
    await Promise.all([...players.map((player, n) => player.throw(['any', 'left', 'right', 'up', 'down'][(n + i) % 5], `${n}-${i}`)), meanwhile()])
  }
}

t.test('sprites fly while every worker is recycled: none is lost, and no client has an error', async t => {
  const { port, supervisor, hub } = await start(t)
  const players = await play(t, port, PLAYERS)
  let recycles = 0
  await throwAll(players, () => supervisor.recycle(recycles++ % WORKERS))
  await checkSprites(t, players, PLAYERS * THROWS)
  t.same(players.flatMap(({ errors }) => errors), [])
  t.ok(players.reduce((sum, { moves }) => sum + moves, 0) > 0, 'polls have moved')
  while (hub.stats().kept > 0) await new Promise(setImmediate)
  t.match(hub.stats(), { desktops: PLAYERS, thrown: PLAYERS * THROWS, acknowledged: PLAYERS * THROWS, vanished: 0 })
})

t.test('a worker is killed again and again: no sprite is lost or comes twice', async t => {
  const { port, supervisor } = await start(t)
  const players = await play(t, port, PLAYERS)
  let kills = 0
  await throwAll(players, async () => {
    await supervisor.ready()
    if (++kills % 2 === 0) process.kill(supervisor.status().workers[kills % WORKERS].pid, 'SIGKILL')
  })
  await checkSprites(t, players, PLAYERS * THROWS)
})

t.test('bad requests are refused in a sentence, and when the hub is lost clients are told to join again', async t => {
  const { port, hub } = await start(t, 1)
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const { body: { id } } = await send(agent, port, 'POST', '/join')
  for (const [method, url, json, status, error] of /** @type {[string, string, unknown, number, RegExp][]} */ ([
    ['GET', '/poll?id=none&ack=0', undefined, 410, /no such desktop/],
    ['POST', `/sprite?id=${id}&edge=top`, 1, 400, /edge is one of left, right/],
    ['POST', `/sprite?id=${id}&edge=up`, undefined, 400, /not JSON/],
    ['POST', `/sprite?id=${id}&edge=up`, 'x'.repeat(5000), 413, /4096/],
    ['POST', '/sprite?id=none&edge=up', 1, 410, /no such desktop/],
    ['GET', '/nothing', undefined, 404, /no such page/]
  ])) t.match(await send(agent, port, method, url, json), { status, body: { error } }, url)
  t.match(await send(agent, port, 'POST', `/leave?id=${id}`), { status: 204 })
  t.match(await send(agent, port, 'POST', `/leave?id=${id}`), { status: 410 })

  const { body: { id: next } } = await send(agent, port, 'POST', '/join?name=a')
  const poll = send(agent, port, 'GET', `/poll?id=${next}&ack=0`)
  while (hub.stats().parked === 0) await new Promise(setImmediate)
  await hub.close()
  const successor = await startHub(String(process.env.SPRITES_HUB))
  t.teardown(() => successor.close())
  t.match(await poll, { status: 410 }, 'the next hub does not know it')
  t.match(await send(agent, port, 'POST', '/join?name=a'), { status: 201, body: { name: 'a' } })
})
