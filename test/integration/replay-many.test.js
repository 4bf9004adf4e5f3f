'use strict'

/**
 * Many parked polls, under many recycles and under kills: each is answered once, or was the killed worker's.
 * RECYCLE_SEED repeats a run.
 */

const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { extent } = require('../support/campaign')
const { sumOfEnds } = require('../support/fleet')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { seeded } = require('../support/random')
const { RawClient } = require('../support/raw-client')

const POLLS = extent({ short: 150, long: 1000 })
const RECYCLES = extent({ short: 4, long: 20 })
const TRIES = extent({ short: 6, long: 100 })
const WORKERS = 3
t.setTimeout(60_000 + (RECYCLES + TRIES) * 20_000)

const seed = Number(process.env.RECYCLE_SEED ?? Date.now() % 1_000_000)
const random = seeded(seed)

/** @param {any} response */
const said = response => JSON.parse(response.body)

/** Answers every poll that is parked in a worker now. @param {any} supervisor */
function release (supervisor) {
  for (const { pid } of supervisor.status().workers) signal(pid, 'SIGUSR2')
}

/** @param {number} pid of a worker, which may have left @param {NodeJS.Signals} name */
function signal (pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ESRCH') throw error
  }
}

/** @param {number} port @param {string} url */
async function poll (port, url) {
  const client = await RawClient.connect(port)
  client.get(url)
  return client
}

t.test(`${POLLS} parked polls over ${RECYCLES} recycles are each answered once, and none reconnects`, async t => {
  const { port, supervisor, told } = await startTellingFleet(t, 'polls.js', { workers: WORKERS, replayAfter: 0 })
  const clients = await Promise.all(Array.from({ length: POLLS }, (_, i) => poll(port, `/poll?id=${i}`)))
  await told.until('parked', { count: POLLS })
  let replayed = 0
  for (let i = 0; i < RECYCLES; i++) {
    const line = await supervisor.recycle(i % WORKERS)
    checkAccount(t, line)
    t.equal(line.replayed, line.moved)
    replayed += line.replayed
  }
  await told.until('parked', { count: POLLS + replayed })
  t.ok(replayed >= POLLS, `${replayed} moves`)
  release(supervisor)
  await Promise.all(clients.map(client => client.received(1)))
  t.equal(clients.reduce((sum, { responses }) => sum + said(responses[0]).replayed, 0), replayed, 'each counts its moves')
  t.ok(clients.every(({ responses, isEnded }) => responses.length === 1 && !isEnded))
  await Promise.all(clients.map(client => client.fetch('/')))
  t.ok(clients.every(({ responses }) => responses.length === 2), 'nothing else came')
  for (const client of clients) await client.close()
})

t.test('polls that are answered, or whose clients leave, while they move', async t => {
  t.comment(`RECYCLE_SEED=${seed}`)
  const { port, supervisor } = await startTellingFleet(t, 'polls.js', { workers: 2, replayAfter: 0 })
  for (let i = 0; i < RECYCLES; i++) {
    const began = Date.now()
    const clients = await Promise.all(Array.from({ length: POLLS }, () => poll(port, `/poll?at=${began + 150 + Math.floor(random() * 250)}`)))
    const leaving = clients.splice(0, POLLS / 5)
    const left = leaving.map(client => after(150 + random() * 250).then(() => client.close()))
    await after(Math.max(0, began + 150 - Date.now())) // moves and answers meet
    const line = await supervisor.recycle(i % 2)
    t.match(line, { cut: 0, unacked: 0, unaccounted: 0 })
    t.equal(sumOfEnds(line), line.connections)
    await Promise.all(left)
    await Promise.all(clients.map(client => client.received(1)))
    await Promise.all(clients.map(client => client.fetch('/')))
    t.ok(clients.every(({ responses, isEnded }) => responses.length === 2 && !isEnded), 'one answer each')
    for (const client of clients) await client.close()
  }
})

t.test(`SIGKILL of a sender or a receiver at a random moment, ${TRIES} times: no poll is lost but in the killed worker, none is answered twice`, async t => {
  t.comment(`RECYCLE_SEED=${seed}`)
  const { port, supervisor, told, events } = await startTellingFleet(t, 'polls.js', { workers: WORKERS, replayAfter: 0 })
  let lost = 0
  for (let i = 0; i < TRIES; i++) {
    const clients = await Promise.all(Array.from({ length: 60 }, (_, n) => poll(port, `/poll?id=${i}-${n}`)))
    await told.until('parked', { where: ({ url }) => url.startsWith(`/poll?id=${i}-`), count: 60 })
    const { pid: sender, slot } = supervisor.status().workers[i % WORKERS]
    const recycled = supervisor.recycle(slot).catch((/** @type {Error} */ error) => error)
    await events.until('worker.drain', { where: ({ pid }) => pid === sender })
    await after(random() * 25)
    const alive = supervisor.status().workers.map((/** @type {any} */ worker) => worker.pid)
    const killed = random() < 0.5 ? sender : alive[Math.floor(random() * alive.length)]
    signal(killed, 'SIGKILL')
    await recycled
    const isOver = () => clients.every(({ responses, isEnded }) => responses.length > 0 || isEnded)
    for (const until = Date.now() + 15_000; !isOver() && Date.now() < until;) {
      release(supervisor)
      await after(50)
    }
    t.ok(isOver(), 'no client waits for ever')
    const failed = clients.flatMap(({ responses }, n) => responses.length === 0 ? [n] : [])
    lost += failed.length
    for (const n of failed) {
      const reports = told.all('parked').filter(({ url }) => url === `/poll?id=${i}-${n}`)
      const wasThere = reports.at(-1)?.pid === killed
      // Adopted, and its handler not yet called
      const wasOnItsWayThere = killed !== sender && reports.at(-1)?.pid === sender
      t.ok(wasThere || wasOnItsWayThere, `poll ${n} was the killed worker's`)
    }
    await after(20)
    t.ok(clients.every(({ responses }) => responses.length <= 1), 'none is answered twice')
    for (const client of clients) await client.close()
    await supervisor.ready()
  }
  t.comment(`${lost} polls of ${TRIES * 60} ended with a killed worker`)
})
