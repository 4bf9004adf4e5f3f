'use strict'

/**
 * `--sticky` over an upgrade or a kill: sessions of the old primary's workers, and their state, are the new one's. Each
 * response must have the count that its client expects.
 */

const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { CountingUsers, habitsOf, HABITS } = require('../support/counting')
const { get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { startUpgradable } = require('../support/upgrade')
const { becomesTrue } = require('../support/processes')

const APP = path.join(__dirname, '..', 'fixtures', 'counting-sessions.js')
const USERS = extent({ short: 12, long: 48 })
const WORKERS = extent({ short: 2, long: 3 })
const POLLS = [{ pollMs: 2500 }, { pollMs: 2500, thinkMs: 20 }, {}, { ms: 1500 }]

for (const [what, habits, upgrades, args] of /** @type {const} */ ([
  ['every session counts on', HABITS, 2, []],
  ['with slow requests and long polls', POLLS, 1, []],
  ['with a drain timeout shorter than the requests', POLLS, 1, ['--drain-timeout', '1s']],
  ['forked', HABITS, 1, ['--fork', 'mold']]
])) {
  t.test(`upgrades one after the other under load: ${what}`, async t => {
    const { port, events, primary } = await startUpgradable(t, ['--sticky', 'cookie:sid', ...args, APP], { workers: WORKERS })
    const users = await new CountingUsers(port, habitsOf(USERS, habits)).begin()
    for (let i = 1; i <= extent({ short: upgrades, long: 10 }); i++) {
      process.kill(primary(), 'SIGUSR2')
      await events.until('fleet.left', { count: i })
      await users.answered()
    }
    t.same(await users.stop(), [], `${users.requests} requests`)
    for (const { cut, closedIdle, lost } of events.all('recycled')) t.match({ cut, closedIdle, lost }, { cut: 0, closedIdle: 0, lost: false })
    // The first user may well send nearly all requests
    t.same(events.all('fleet.warning').filter(({ warning }) => warning !== 'sticky-one'), [])
  })
}

for (const [what, args] of /** @type {const} */ ([['spawned', []], ['forked', ['--fork', 'mold']]])) {
  t.test(`the primary is killed, and the next one adopts its workers: every session counts on, ${what}`, async t => {
    const room = controlRoom(t)
    const { env } = room
    const options = ['--sticky', 'cookie:sid', ...args, APP]
    const { port, child } = await startUpgradable(t, options, { workers: WORKERS, env })
    const users = await new CountingUsers(port, habitsOf(USERS, HABITS)).begin()
    await users.answered()
    child.kill('SIGKILL')
    t.ok(await becomesTrue(() => room.call(['status']).then(({ code }) => code === 2)))
    const late = await new CountingUsers(port, habitsOf(4, [{}])).begin()
    await late.answered()
    const { events } = await startUpgradable(t, options, { workers: WORKERS, env: { ...env, PORT: String(port) } })
    await events.until('recycled', { count: WORKERS, where: ({ reason }) => reason === 'adopted' })
    await Promise.all([users.answered(), late.answered()])
    t.same(await users.stop(), [], `${users.requests} requests`)
    t.same(await late.stop(), [], 'those that have begun without a primary count on, too')
    for (const { cut, closedIdle, lost } of events.all('recycled')) t.match({ cut, closedIdle, lost }, { cut: 0, closedIdle: 0, lost: false })
  })
}

t.test('where no next primary comes, what waits for one is answered by the worker that has it', async t => {
  const room = controlRoom(t)
  const { port, child, events, living } = await startUpgradable(t, ['--sticky', 'cookie:sid', APP], { workers: 2, env: room.env })
  const sids = await Promise.all(Array.from({ length: 8 }, async () => JSON.parse((await get(port, '/login')).body).sid))
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => events.all('worker.orphaned').length === 2))
  const isAnswered = Array(64).fill(false)
  const answers = isAnswered.map((_, i) => get(port, '/', { headers: { cookie: `sid=${sids[i % sids.length]}` } }).then(answer => {
    isAnswered[i] = true
    return answer
  }))
  await get(port, '/login')
  t.ok(await becomesTrue(() => isAnswered.includes(true)))
  t.ok(isAnswered.includes(false), 'some wait')
  for (const pid of living()) process.kill(pid, 'SIGTERM')
  t.same((await Promise.all(answers)).filter(({ status }) => ![200, 409].includes(status)), [])
})

t.test('the new primary dies while the old workers leave: what had been sent to it is said to be lost', async t => {
  const { port, events, primary } = await startUpgradable(t, ['--sticky', 'cookie:sid', APP], { workers: 2 })
  const sids = await Promise.all(Array.from({ length: 10 }, async () => JSON.parse((await get(port, '/login')).body).sid))
  const slow = get(port, '/poll?ms=6000', { headers: { cookie: `sid=${sids[0]}` } }) // keeps its worker from leaving
  process.kill(primary(), 'SIGUSR2')
  const { pid } = await events.until('fleet.upgraded')
  await events.until('worker.drain', { count: 2 })
  const isThere = async () => (await get(port, '/', { headers: { cookie: `sid=${sids[1]}` } })).status === 200
  t.ok(await becomesTrue(isThere), 'the new fleet has its session')
  process.kill(pid, 'SIGKILL')
  const { sessions } = await events.until('fleet.warning', { where: ({ warning }) => warning === 'sessions-lost' })
  t.ok(sessions > 0 && sessions <= sids.length, `${sessions} sessions`)
  await slow.catch(() => {})
})
