'use strict'

/** onLease(): no two processes have the number of a slot at a time, over recycles, deaths and upgrades. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { FIXTURES } = require('../support/fleet')
const { becomesTrue, livingOfGroup } = require('../support/processes')
const { startUpgradable } = require('../support/upgrade')

const APP = path.join(FIXTURES, 'leases.js')
const WORKERS = 2

/** @param {any} t @param {string[]} args @param {Record<string, string>} env */
async function start (t, args, env) {
  const file = path.join(t.testdir(), 'leases')
  const fleet = await startUpgradable(t, [...args, APP], { workers: WORKERS, env: { LEASE_FILE: file, ...env } })
  const lines = () => fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line)) : []
  const begun = () => lines().filter(({ what }) => what === 'begins').map(({ pid }) => pid)
  t.ok(await becomesTrue(() => begun().length === WORKERS), 'each worker gets the lease of its slot')
  return {
    ...fleet,
    file,
    lines,
    begun,
    reload: async (/** @type {number} */ reloads) => {
      process.kill(fleet.primary(), 'SIGHUP')
      await fleet.events.until('recycled', { count: reloads * WORKERS })
      t.ok(await becomesTrue(() => begun().length === (reloads + 1) * WORKERS), 'each replacement gets it')
    }
  }
}

/**
 * @param {{ what: string, slot: number, pid: number, alive: number[] }[]} lines
 * @returns {string[]} what two processes had at once
 */
function heldTwice (lines) {
  const holders = new Map()
  return lines.flatMap(({ what, slot, pid, alive }) => {
    const holder = holders.get(slot)
    if (what === 'ends') {
      if (holder === pid) holders.delete(slot)
      return holder === pid ? [] : [`${pid} ends what it had not of slot ${slot}`]
    }
    holders.set(slot, pid)
    return holder === undefined || !alive.includes(holder) ? [] : [`${pid} begins with slot ${slot}, which ${holder} has`]
  })
}

for (const [what, args, env] of /** @type {[string, string[], Record<string, string>][]} */ ([
  ['its work ends while it drains', [], { LEASE_END_MS: '300' }],
  ['its work ends with the process', [], {}],
  ['with a standby', ['--standby', '1'], { LEASE_END_MS: '100' }],
  ['forked', ['--fork', 'mold'], { LEASE_END_MS: '100' }]
])) {
  t.test(`a replacement gets the lease when its predecessor has given it back: ${what}`, async t => {
    const { lines, begun, events, reload } = await start(t, args, env)
    await reload(1)
    await reload(2)
    const [victim] = begun().slice(-1)
    process.kill(victim, 'SIGKILL')
    t.ok(await becomesTrue(() => begun().length === 3 * WORKERS + 1), 'so does that of a worker that has died')
    t.same(heldTwice(lines()), [])
    await events.until('worker.lease', { count: 3 * WORKERS + 1 })
  })
}

t.test('a request that keeps a worker from leaving does not keep the lease', async t => {
  const { port, lines, begun, primary } = await start(t, [], { LEASE_END_MS: '50' })
  const slow = [1, 2, 3, 4].map(() => get(port, '/4000'))
  await after(500)
  const isIn = slow.map(answer => answer.then(() => false))
  process.kill(primary(), 'SIGHUP')
  t.ok(await becomesTrue(() => begun().length > WORKERS))
  t.ok(await Promise.race([...isIn, true]), 'while a request is in flight in each worker')
  t.same(heldTwice(lines()), [])
  for (const { status } of await Promise.all(slow)) t.equal(status, 200)
})

t.test('an upgrade: the new workers get the leases when the old ones are gone', async t => {
  const { lines, begun, primary, events } = await start(t, [], { LEASE_END_MS: '200' })
  for (let upgrades = 1; upgrades <= 2; upgrades++) {
    process.kill(primary(), 'SIGUSR2')
    await events.until('fleet.left', { count: upgrades })
    t.ok(await becomesTrue(() => begun().length === (upgrades + 1) * WORKERS))
  }
  t.same(heldTwice(lines()), [])
})

t.test('the primary is killed: the orphans keep their leases, also as the next primary has them, until they have ended', async t => {
  const { env } = controlRoom(t)
  const { file, lines, begun, child, port } = await start(t, [], { ...env, LEASE_END_MS: '200' })
  child.kill('SIGKILL')
  const next = await startUpgradable(t, [APP], { workers: WORKERS, env: { ...env, PORT: String(port), LEASE_FILE: file, LEASE_END_MS: '200' } })
  await next.events.until('fleet.adopted')
  await next.events.until('recycled', { count: WORKERS, where: ({ reason }) => reason === 'adopted' })
  t.ok(await becomesTrue(() => begun().length === 2 * WORKERS), 'each replacement gets it')
  t.same(lines().filter(({ what }) => what === 'ends').map(({ pid }) => pid).sort(), begun().slice(0, WORKERS).sort())
  t.same(heldTwice(lines()), [])
})

for (const since of ['before', 'after']) {
  t.test(`the primary is killed, and the event loop of a worker is blocked since ${since} that: its lease is not given before it has told`, async t => {
    const { env } = controlRoom(t)
    const { file, lines, begun, child, port, events } = await start(t, [], { ...env, LEASE_END_MS: '200' })
    const [blocked] = begun()
    t.teardown(() => { if (livingOfGroup(child.pid).includes(blocked)) process.kill(blocked, 'SIGKILL') })
    if (since === 'before') {
      await after(100) // the other one has been told what it has
      process.kill(blocked, 'SIGSTOP')
    }
    child.kill('SIGKILL')
    await events.until('worker.orphaned', { count: since === 'before' ? 1 : WORKERS })
    process.kill(blocked, 'SIGSTOP')
    const next = await startUpgradable(t, [APP], { workers: WORKERS, env: { ...env, PORT: String(port), LEASE_FILE: file, LEASE_END_MS: '200' } })
    await next.events.until('recycled', { where: ({ reason }) => reason === 'adopted' })
    if (since === 'before') {
      t.ok(await becomesTrue(() => begun().length === 2 * WORKERS - 1), 'the others get theirs')
      await after(2000)
    }
    process.kill(blocked, 'SIGCONT')
    t.ok(await becomesTrue(() => begun().length === 2 * WORKERS), 'each replacement gets it')
    t.same(heldTwice(lines()), [])
  })
}
