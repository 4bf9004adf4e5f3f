'use strict'

/** `node examples/sprites`, the one command that starts the hub and the fleet. */

const path = require('node:path')
const t = require('tap')
const { get } = require('../../support/client')
const { controlRoom } = require('../../support/control')
const { startCli } = require('../../support/fleet')
const { Player, checkSprites } = require('../../support/sprites')

const EXAMPLE = path.join(__dirname, '..', '..', '..', 'examples', 'sprites', 'index.js')

t.test('node examples/sprites serves the page, and sprites fly while every worker is replaced', async t => {
  const room = controlRoom(t)
  const { port, child, events, exited } = await startCli(t, [], { program: EXAMPLE, env: room.env })
  const { options } = await events.until('fleet.start')
  await events.until('worker.ready', { count: options.workers })
  t.match(await get(port), { status: 200, body: /<title>/ })

  const players = await Promise.all([1, 2, 3].map(() => new Player(port).join()))
  t.teardown(() => Promise.all(players.map(player => player.close())))
  await players[0].throw('left', 'before')
  child.kill('SIGHUP')
  await events.until('recycled', { count: options.workers })
  await players[1].throw('right', 'after')
  await checkSprites(t, players, 2)
  t.same(players.flatMap(({ errors }) => errors), [])
  await Promise.all(players.map(player => player.close()))
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})
