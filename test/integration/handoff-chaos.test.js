'use strict'

/**
 * Workers are killed, or stopped for a while, at random moments of a recycle under load.
 *
 * A worker that is stopped and continued may cost no client anything. A killed worker loses its own connections: each
 * of them fails at once, with a reset, and its client may see that. Every other failure is one of recycle: a connection
 * of another worker, a connection on the way between two workers (three processes hold a copy of it), a connection that
 * fails later, and a client that has to wait.
 *
 * RECYCLE_SEED repeats the random choices of a run.
 */

const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { extent } = require('../support/campaign')
const { sumOfEnds } = require('../support/fleet')
const { startTellingFleet } = require('../support/draining')
const { Load } = require('../support/load')
const { seeded } = require('../support/random')
const { RawClient } = require('../support/raw-client')

const TRIES = extent({ short: 4, long: 100 })
const WORKERS = 3
const PAUSE_MS = extent({ short: 300, long: 0 }) // of a witness between two requests
const DEATH_MS = 2000 // until the last client has noticed, on a busy machine
const RESETS = ['ECONNRESET', 'EPIPE', 'aborted']

/** A keep-alive client that notes which worker served it last, the owner of its connection when it fails. */
class Witness {
  answered = 0
  sockets = 0
  /** @type {{ t: number, error: string, lastPid: number | null }[]} */
  failures = []

  /** @param {number} port */
  constructor (port) {
    this.port = port
    this.isStopping = false
    this.done = this.#run()
  }

  async #run () {
    while (!this.isStopping) {
      let lastPid = null
      let client = null
      try {
        client = await RawClient.connect(this.port)
        this.sockets++
        while (!this.isStopping) {
          lastPid = Number((await client.fetch('/')).headers['x-pid'])
          client.responses.length = 0
          this.answered++
          if (PAUSE_MS > 0) await after(Math.random() * PAUSE_MS)
        }
      } catch (error) {
        this.failures.push({ t: Date.now(), error: error.message, lastPid })
      }
      await client?.close()
    }
  }
}

t.setTimeout(20_000 + TRIES * 10_000)

const seed = Number(process.env.RECYCLE_SEED ?? Date.now() % 1_000_000)
const random = seeded(seed)
const oneOf = (/** @type {any[]} */ ...choices) => choices[Math.floor(random() * choices.length)]

t.test(`workers that are killed or stopped in ${TRIES} recycles cost no client but their own`, async t => {
  t.comment(`RECYCLE_SEED=${seed}`)
  const { port, supervisor, events } = await startTellingFleet(t, 'exchanges.js', { workers: WORKERS })
  const load = new Load({ port, connections: 16, thinkMs: extent({ short: 300, long: 3 }) })
  const witnesses = Array.from({ length: 6 }, () => new Witness(port))

  for (let i = 0; i < TRIES; i++) {
    const plan = {
      // Each of the four is in every run, however short.
      signal: i % 2 === 0 ? 'SIGKILL' : 'SIGSTOP',
      role: i % 4 < 2 ? 'sender' : 'receiver',
      slot: i % WORKERS,
      since: oneOf('worker.drain', 'worker.drain', 'worker.ready'),
      delayMs: Math.round(random() ** 2 * 60),
      stopMs: Math.round(oneOf(20, 300, 1500) * (0.5 + random()))
    }
    await load.after(40)
    const failedBefore = load.failures.length
    const hit = await strike(plan)
    await load.after(40) // without it a hang would never end

    const about = JSON.stringify({ try: i, ...plan, hit })
    const failures = load.failures.slice(failedBefore)
    const isTheirs = (/** @type {any} */ { t, error }) =>
      plan.signal === 'SIGKILL' && RESETS.includes(error) && t >= hit.t && t <= hit.t + DEATH_MS
    t.same(failures.filter(failure => !isTheirs(failure)), [], `no failure but the killed worker's own: ${about}`)
    for (const witness of witnesses) {
      const wrong = witness.failures.splice(0).filter(({ t, lastPid }) =>
        plan.signal !== 'SIGKILL' || t < hit.t || t > hit.t + DEATH_MS || (lastPid !== null && !hit.owners.includes(lastPid)))
      t.same(wrong, [], `nor of a client that only watches: ${about}`)
    }
  }
  for (const witness of witnesses) witness.isStopping = true
  const { requests, failures } = await load.stop()
  await Promise.all(witnesses.map(witness => witness.done))
  t.comment(`${requests} requests, ${failures.length} failed in ${TRIES} tries; ${JSON.stringify(supervisor.status().totals)}`)
  for (const line of events.all('recycled')) {
    t.equal(sumOfEnds(line), line.connections, 'the audit adds up')
  }

  /**
   * Recycles a slot, signals one worker meanwhile, and resolves when the fleet is complete again.
   *
   * @returns the time, the victim, and the workers that may have owned its connections when it died
   */
  async function strike ({ signal, role, slot, since, delayMs, stopMs }) {
    const [old] = supervisor.status().workers.filter(worker => worker.slot === slot).map(worker => worker.pid)
    const ready = events.all('worker.ready').length
    const drains = events.all('worker.drain').length
    const recycled = supervisor.recycle(slot).catch(error => error)
    const { pid: replacement } = await events.until('worker.ready', { count: ready + 1 })
    if (since === 'worker.drain') await events.until('worker.drain', { count: drains + 1 })
    if (delayMs > 0) await after(delayMs) // a random moment
    const victim = role === 'sender' ? old : replacement
    const t = Date.now()
    const isHit = send(victim, signal)
    if (signal === 'SIGSTOP' && isHit) {
      await after(stopMs)
      send(victim, 'SIGCONT')
    }
    await recycled
    await supervisor.ready()
    return { t, victim, isHit, tookMs: Date.now() - t, owners: role === 'sender' ? [old] : [old, replacement] }
  }
})

/** @param {number} pid @param {NodeJS.Signals} signal @returns {boolean} whether the process existed */
function send (pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
