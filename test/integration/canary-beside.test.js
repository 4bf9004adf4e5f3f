'use strict'

/** New code is tried in one worker of a fleet with --fork, --sticky or --standby. */

const http = require('node:http')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { skip } = require('../support/mold')
const { OPTIONS, source, start } = require('../support/trial')

t.test('--fork mold: the code before is forked still, though the file has another', { skip }, async t => {
  const { supervisor, events, port, write, load } = await start(t, { fork: 'mold' })
  write(`${source('better')}\nsetInterval(() => { if (process.env.RECYCLE_SLOT !== 'mold') process.exit(3) }, 50)`)
  await t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  t.match(events.all('fleet.rejected'), [{ isReplaced: false }], 'that this code could not be forked says nothing of the code before')
  write(source('better'))
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  await events.until('fleet.trial', { count: 2 })
  await events.until('worker.ready', { where: ({ slot, t }) => slot === 2 && t > events.all('fleet.trial')[1].t })
  await supervisor.recycle(0)
  await supervisor.reload({ abort: true })
  await first
  t.match(events.all('fleet.rejected'), [{}, { isReplaced: false }])
  await supervisor.recycle(1)
  t.match(supervisor.status().workers, [{ generation: 0 }, { generation: 0 }])
  const { failures } = await load.stop()
  t.same(failures, [])
  for (let i = 0; i < 20; i++) t.match(await get(port), { body: 'good' })
})

t.test('--sticky: sessions stay where they are, and those that began in the new code go along when it leaves', async t => {
  const { supervisor, events, port } = await startFleet(t, 'counting-sessions.js', { ...OPTIONS, sticky: 'cookie:sid' })
  const agents = Array.from({ length: 12 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
  t.teardown(() => { for (const agent of agents) agent.destroy() })
  const ask = async (/** @type {http.Agent} */ agent, /** @type {string} */ path, cookie = '') => {
    const { status, body, error } = await get(port, path, { agent, headers: { cookie } })
    return { status, error, ...JSON.parse(body || '{}') }
  }
  const login = (/** @type {http.Agent[]} */ agents) => Promise.all(agents.map(agent => ask(agent, '/login')))
  /** @param {{ sid: string, pid: number }[]} sessions @param {number} count */
  const round = async (sessions, count) => {
    const answers = await Promise.all(sessions.map(({ sid }, i) => ask(agents[i], '/', `sid=${sid}`)))
    t.match(answers, sessions.map(({ sid }) => ({ status: 200, sid, count })))
    return answers
  }
  const before = await login(agents)
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  const { pid: fresh } = await events.until('worker.ready', { count: 3 })
  t.same((await round(before, 1)).map(({ pid }) => pid), before.map(({ pid }) => pid), 'each in its worker')
  let began = await login(agents)
  for (let i = 0; i < 50 && !began.some(({ pid }) => pid === fresh); i++) {
    began = await login(Array.from(agents, () => new http.Agent()))
  }
  t.ok(began.some(({ pid }) => pid === fresh), 'some begin in the new code')
  await supervisor.reload({ abort: true })
  await first
  await round(began, 1)
  t.same((await round(before, 2)).map(({ pid }) => pid), before.map(({ pid }) => pid))
})

t.test('a standby has the code before, and serves in its place; none boots with code on trial that has replaced it', async t => {
  const { supervisor, events, write, load } = await start(t, { standby: 1 })
  await events.until('worker.standby')
  const { pid: standby } = supervisor.status().workers.find(({ state }) => state === 'standby') ?? {}
  write(source('better'))
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  await events.until('worker.ready', { where: ({ slot }) => slot === 2 })
  t.match(await supervisor.recycle(0), { pid: standby, how: 'standby' })
  t.match(await supervisor.recycle(1), { how: 'surge' })
  t.same(supervisor.status().workers.map(({ slot, generation }) => [slot, generation]).sort(), [[0, 0], [1, 1], [2, 1]], 'what is spawned runs the new code, and counts as such')
  t.same(events.all('worker.spawn').filter(({ slot }) => slot === null).length, 1, 'no other standby')
  await supervisor.reload({ abort: true })
  await first
  await events.until('worker.standby', { count: 2 })
  await supervisor.reload()
  t.same((await load.stop()).failures, [])
})
