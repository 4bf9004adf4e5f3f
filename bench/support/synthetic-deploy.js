'use strict'

/**
 * A deploy that never was: workers of the old and of the new code, what their clients ask for, and what they count.
 * Seeded, so that it can be made again.
 *
 * Workers of equal code differ: by their connections (few or many, some far busier than others, some whose client
 * always asks for what is not there, or for what fails), by up to some per cent of their own, by pauses. Backends fail
 * for two seconds, for all workers or for one. Clients that have waited long give up and come anew, each time by a new
 * connection, of which workers accept unequal parts. New workers are still a little slower at first.
 */

const { AT: SWEEPS_AT } = require('../../lib/features/canary/bake')
const { newCounts, newConnection, countResponse, countCollection, blockBetween } = require('../../lib/features/canary/counts')
const { addTime, thresholdsOf } = require('../../lib/features/canary/times')
const { judge } = require('../../lib/features/canary/verdict')
const { Random } = require('./random')

const BLOCK_MS = 5000
const OLD_WORKERS = 4
const SCAVENGE_BYTES = 8e6

/**
 * @typedef {'clients' | 'proxy'} Traffic a client a connection, each with its own habits and rate; or a proxy, whose
 *   connections are alike
 *
 * @typedef {object} Fault of the new code
 * @property {number} [errors] further responses with 5xx, a share
 * @property {number} [unanswered] further responses that are not finished, a share
 * @property {number} [refusals] further responses with 4xx, a share
 * @property {number} [slower] times
 * @property {number} [slowerTail] times, of the slowest 5 %
 * @property {number} [cpu] times
 * @property {number} [leak] bytes a request
 * @property {number} [crashes] a request
 */

/** How the app and its clients are. @param {Random} random @param {Traffic} traffic */
function nature (random, traffic) {
  const isProxied = traffic === 'proxy'
  const connections = Math.round(isProxied ? random.logUniform(10, 80) : random.logUniform(15, 400))
  return {
    connections,
    zipf: isProxied ? 0.3 * random.uniform() : 0.3 + 0.8 * random.uniform(),
    isEven: random.chance(0.6), // connections among workers; else by chance
    shortLived: random.chance(0.5) ? random.uniform() * 0.8 : 0,
    medianMs: random.logUniform(1, 100),
    sigma: 0.4 + 0.6 * random.uniform(),
    clientSigma: isProxied ? 0.03 : 0.2,
    errors: random.chance(0.5) ? 0 : random.logUniform(0.0001, 0.005),
    refusals: random.logUniform(0.001, 0.05),
    refused: isProxied || random.chance(0.4) ? 0 : 0.02, // clients that always get 404
    oftenRefused: isProxied ? 0 : 0.1, // and that get it at each tenth request
    failing: !isProxied && random.chance(0.25) ? 1 / connections : 0, // clients half of whose requests fail
    backendAway: random.chance(0.3) ? random.uniform() : null, // at which share of the bake; for all workers
    // The worker whose connection to the backend is away
    ownAway: random.chance(0.1) ? Math.floor(random.uniform() * (OLD_WORKERS + 1)) : null,
    cpuMs: random.logUniform(0.3, 10),
    garbageBytes: random.logUniform(30, 3000), // a request, that becomes old
    allocatedBytes: random.logUniform(20e3, 400e3), // a request
    leak: random.chance(0.2) ? random.logUniform(50, 2000) : 0,
    cacheBytes: random.chance(0.3) ? random.logUniform(1e6, 50e6) : 0,
    cacheRequests: random.logUniform(0.03, 1), // of those of the bake, by which it fills to two thirds
    noiseBytes: random.logUniform(20e3, 300e3)
  }
}

/**
 * @param {object} how
 * @param {number} how.seed
 * @param {number} how.requests that the new worker gets, on average
 * @param {Traffic} [how.traffic]
 * @param {Fault} [how.fault] none: equal code
 * @param {number} [how.blocks] of 5 s; as after the warm-up of `--bake 2m`, unless told
 * @param {boolean} [how.isWatched] false: it is judged at the end alone
 * @returns {{ verdict: import('../../lib/features/canary/verdict').Verdict, seconds: number }} after how long it was
 *   made
 */
function deploy ({ seed, requests, traffic = 'clients', fault = {}, blocks = 18, isWatched = true }) {
  const random = new Random(seed)
  const of = nature(random, traffic)
  const impatience = new Random(~seed) // its own, so that all else is as without it
  const givingUp = impatience.chance(0.4) ? impatience.logUniform(0.001, 0.08) : 0 // of the requests
  const total = requests * (OLD_WORKERS + 1)
  const clients = makeClients(random, of, blocks, total)
  const workers = Array.from({ length: OLD_WORKERS + 1 }, (_, slot) =>
    new SyntheticWorker(random, of, slot, slot === OLD_WORKERS ? fault : null, requests))
  const busiest = workers.map(({ slot }) =>
    clients.filter(client => client.slot === slot).reduce((sum, { rate }) => sum + rate, 0) * blocks / requests)
  const accepting = workers.map(() => Math.exp(0.3 * impatience.normal()))
  workers.forEach((worker, slot) => { worker.slower *= 1 + 0.05 * Math.max(-1, Math.min(2, busiest[slot] - 1)) })
  tellThresholds(random, of, workers, clients, requests)
  const drift = Math.exp(0.04 * random.normal())
  let common = 0
  /** @type {(import('../../lib/features/canary/counts').Memory | null)[]} */
  let half = workers.map(() => null)
  const sweepsAt = SWEEPS_AT.map(share => Math.floor(share * blocks))
  for (let at = 0; at < blocks; at++) {
    if (sweepsAt.includes(at)) for (const worker of workers) worker.collect(true)
    common = 0.7 * common + 0.08 * random.normal()
    const load = 1 + 0.3 * Math.sin(2 * Math.PI * (at / blocks + seed % 7))
    const away = of.backendAway !== null && Math.floor(of.backendAway * blocks) === at ? 0.4 : 0
    for (const worker of workers) worker.begin(at, blocks, drift * Math.exp(common), away)
    for (const client of clients) {
      if (at < client.from || at >= client.to) continue
      workers[client.slot].serve(client, random.poisson(client.rate * load))
    }
    if (givingUp > 0) {
      workers.forEach((worker, slot) =>
        worker.giveUp(impatience.poisson(givingUp * load * requests / blocks * accepting[slot])))
    }
    for (const worker of workers) worker.end()
    if (at === (blocks >> 1) - 1) half = workers.map(({ counts }) => structuredClone(counts.memory))
    if (isWatched && at < blocks - 1) {
      const verdict = judged(workers, half, false)
      if (verdict.verdict === 'bad') return { verdict, seconds: (at + 1) * BLOCK_MS / 1000 }
    }
  }
  return { verdict: judged(workers, half, true), seconds: blocks * BLOCK_MS / 1000 }
}

/**
 * @param {SyntheticWorker[]} workers @param {(import('../../lib/features/canary/counts').Memory | null)[]} half
 * @param {boolean} isFinal
 */
function judged (workers, half, isFinal) {
  const windows = workers.map(
    ({ slot, counts, crashes, blocks }, i) => ({ ...counts, half: half[i], slot, crashes, exceptions: 0, blocks })
  )
  return judge({ old: windows.slice(0, OLD_WORKERS), fresh: windows.slice(OLD_WORKERS), isFinal })
}

/**
 * @typedef {{ slot: number, rate: number, from: number, to: number, slower: number, refused: number, failing: number,
 *   counted: import('../../lib/features/canary/counts').Connection }} Client with one connection; `rate`: requests a
 *   stretch of time
 */

/**
 * @param {Random} random @param {ReturnType<typeof nature>} of @param {number} blocks @param {number} total requests
 * @returns {Client[]}
 */
function makeClients (random, of, blocks, total) {
  const slots = Array.from({ length: of.connections }, (_, i) => i % (OLD_WORKERS + 1))
  for (let i = slots.length - 1; i > 0; i--) {
    const j = Math.floor(random.uniform() * (i + 1));
    [slots[i], slots[j]] = [slots[j], slots[i]]
  }
  const clients = slots.map((slot, i) => {
    const isShort = random.chance(of.shortLived)
    const from = isShort ? Math.floor(random.uniform() * blocks) : 0
    return {
      slot: of.isEven ? slot : Math.floor(random.uniform() * (OLD_WORKERS + 1)),
      rate: 1 / (i + 1) ** of.zipf,
      from,
      to: isShort ? Math.min(blocks, from + 1 + Math.floor(random.uniform() * 10)) : blocks,
      slower: Math.exp(of.clientSigma * random.normal()),
      refused: random.chance(of.refused) ? 1 : random.chance(of.oftenRefused) ? 0.1 : 0,
      failing: random.chance(of.failing) ? 0.5 : 0,
      counted: newConnection()
    }
  })
  const weight = clients.reduce((sum, { rate, from, to }) => sum + rate * (to - from), 0)
  for (const client of clients) client.rate *= total / weight
  // A worker that has no client has no say: it gets one.
  for (let slot = 0; slot <= OLD_WORKERS; slot++) {
    if (!clients.some(client => client.slot === slot && client.to === blocks)) clients[slot].slot = slot
  }
  return clients
}

/**
 * By the old workers' responses of a warm-up, a tenth of the bake.
 *
 * @param {Random} random @param {ReturnType<typeof nature>} of @param {SyntheticWorker[]} workers
 * @param {Client[]} clients @param {number} requests
 */
function tellThresholds (random, of, workers, clients, requests) {
  /** @type {import('../../lib/features/canary/times').Times} */
  const times = {}
  const old = clients.filter(({ slot }) => slot < OLD_WORKERS)
  const rates = old.reduce((sum, { rate }) => sum + rate, 0)
  for (const client of old) {
    for (let left = random.poisson(Math.max(400, OLD_WORKERS * requests / 10) * client.rate / rates); left >
      0; left--) {
      addTime(times, of.medianMs * client.slower * workers[client.slot].slower * Math.exp(of.sigma * random.normal()))
    }
  }
  const thresholds = thresholdsOf([times])
  for (const worker of workers) worker.thresholds = thresholds && thresholds[worker.fault ? 'fresh' : 'old']
}

class SyntheticWorker {
  counts = newCounts()
  crashes = 0
  /** @type {import('../../lib/features/canary/counts').Block[]} */
  blocks = []
  /** @type {import('../../lib/features/canary/times').Thresholds | null} */
  thresholds = null
  #before = newCounts()
  #slowerNow = 1
  #cpuNow = 1
  #pauseMs = 0
  #away = 0
  #live = 20e6
  #garbage = 0
  #sweptBytes = 20e6
  #sinceCollection = 0

  /**
   * @param {Random} random @param {ReturnType<typeof nature>} of @param {number} slot
   * @param {Fault | null} fault null: old code @param {number} requests of a worker, about
   */
  constructor (random, of, slot, fault, requests) {
    this.random = random
    this.of = of
    this.slot = slot
    this.fault = fault
    this.slower = Math.exp(0.03 * random.normal()) * (fault?.slower ?? 1)
    this.cpu = Math.exp(0.03 * random.normal()) * (fault?.cpu ?? 1)
    this.leak = of.leak + (fault?.leak ?? 0)
    this.slowTail = Math.exp(1.645 * of.sigma) * of.medianMs
    this.cacheRequests = of.cacheRequests * requests
    this.cacheStep = fault ? of.cacheBytes / this.cacheRequests : 0 // its caches are empty
    this.sweepAt = random.logUniform(10e6, 40e6)
  }

  /**
   * @param {number} at @param {number} blocks @param {number} slower all workers are
   * @param {number} away share of the stretch in which backends fail
   */
  begin (at, blocks, slower, away) {
    const { random, of, fault, slot } = this
    const fading = fault ? Math.exp(-at / 6) : 0 // what is left of the warm-up
    this.#slowerNow = slower * this.slower * (1 + 0.05 * fading) * Math.exp(0.04 * random.normal())
    this.#cpuNow = this.cpu * (1 + 0.15 * fading) * Math.exp(0.05 * random.normal())
    this.#pauseMs = random.chance(0.3) ? -60 * Math.log(random.uniform()) : 0
    this.#away = Math.max(away, of.ownAway === slot && Math.floor(0.37 * blocks) === at ? 0.4 : 0)
    this.#before = { ...this.counts, of: { ...this.counts.of } }
  }

  /** @param {Client} client @param {number} requests */
  serve (client, requests) {
    const { random, of, fault } = this
    for (let left = requests; left > 0; left--) {
      let ms = of.medianMs * client.slower * Math.exp(of.sigma * random.normal())
      if (fault?.slowerTail && ms > this.slowTail) ms *= fault.slowerTail
      ms *= this.#slowerNow
      if (this.#pauseMs > 0 && random.chance(this.#pauseMs / BLOCK_MS)) ms += this.#pauseMs * random.uniform()
      if (fault?.unanswered && random.chance(fault.unanswered)) {
        countResponse(this.counts, client.counted, { status: 0, ms, isUnfinished: true }, this.thresholds)
        client.counted = newConnection() // the client has to come anew
        continue
      }
      const draw = random.uniform()
      const failed = of.errors + client.failing + (fault?.errors ?? 0)
      const isAway = this.#away > 0 && random.chance(this.#away * 0.8)
      const refused = client.refused + of.refusals + (fault?.refusals ?? 0)
      countResponse(this.counts, client.counted, {
        status: isAway || draw < failed ? 500 : draw > 1 - refused ? 404 : 200, ms
      }, this.thresholds)
      this.#live += this.leak + this.cacheStep * Math.exp(-this.counts.requests / this.cacheRequests)
      this.#garbage += of.garbageBytes
      this.#sinceCollection += of.allocatedBytes
      if (this.#sinceCollection > SCAVENGE_BYTES) {
        this.collect(this.#live + this.#garbage - this.#sweptBytes > this.sweepAt)
      }
      if (random.chance(5e-6 + (fault?.crashes ?? 0))) this.crashes++
    }
  }

  /** @param {number} clients have waited for longer than any other request */
  giveUp (clients) {
    for (let left = clients; left > 0; left--) {
      countResponse(this.counts, newConnection(), { status: 0, ms: 1e5, isUnfinished: true }, this.thresholds)
    }
  }

  end () {
    const requests = this.counts.requests - this.#before.requests
    const noise = Math.max(0.2, 1 + 0.5 * this.random.normal() / Math.sqrt(Math.max(1, requests)))
    this.counts.busyMs += 25 + requests * this.of.cpuMs * this.#cpuNow * noise
    this.blocks.push(blockBetween(this.counts, this.#before))
  }

  /** @param {boolean} isSweep */
  collect (isSweep) {
    this.#sinceCollection = 0
    if (isSweep) {
      this.#garbage = 0
      this.#sweptBytes = this.#live
    }
    const noise = this.of.noiseBytes * this.random.normal() * (isSweep ? 0.3 : 1)
    countCollection(this.counts.memory, {
      requests: this.counts.requests, liveBytes: Math.round(this.#live + this.#garbage + noise)
    }, isSweep)
  }
}

module.exports = { deploy }
