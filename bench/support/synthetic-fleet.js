'use strict'

/**
 * A fleet that never was: workers that handle requests one after the other on a few CPUs, and clients' connections
 * among them. Seeded, so that it can be made again.
 *
 * A millisecond at a time: requests come (by chance, at each connection's rate), workers with requests share the CPUs
 * equally, and every so often connections move. What is decided on is what real workers tell: how busy they were, and
 * what each connection's requests made of that.
 */

const { Gathering, restingOf } = require('../../lib/core/gathering')
const { giftsOf, isGift, choose, receiverOf } = require('../../lib/core/sharing')
const { percentiles } = require('./statistics')
const { Random } = require('./random')

const BEAT_MS = 500
const DECIDE_MS = 1500 // a second of beats since the last moves, and what it takes to notice
const WARM_MS = 3000
const WAKE_MS = 0.005 // of a CPU, for a worker that slept

/**
 * @typedef {'load' | 'count' | 'shared' | 'round robin' | 'least connections'} Policy by load: as recycle does; by
 *   count: the same without knowing of loads. Connections do not move by the others; those of a worker that is replaced
 *   are opened anew
 *
 * @typedef {object} Kind of load
 * @property {number} connections from the start
 * @property {number} share of the CPUs that all requests take
 * @property {number} costMs of a request
 * @property {number} [zipf] exponent: rates differ
 * @property {number} [busy] so many of them make the load, and all are of one worker; the others are quiet
 * @property {number} [slow] so many of them have requests of 40 times the cost, at a tenth of the rate
 * @property {(at: number) => number} [factor] of the load, over the time from 0 to 1
 * @property {number} [storm] so many more come within two seconds
 * @property {number} [workersAtFirst] others start at half of the time
 * @property {number} [recycleEveryMs] a worker is replaced
 *
 * @typedef {{ worker: SyntheticWorker, weight: number, costMs: number, load: number, requests: number }} Connection
 */

class SyntheticWorker {
  /** @type {Set<Connection>} */
  connections = new Set()
  /** Oldest first. @type {{ dueAt: number, leftMs: number }[]} */
  queue = []
  wakes = 0
  busy = 0
  /** CPUs that it uses, requests a second, and the longest that one has waited. */
  cpus = 0
  rate = 0
  lateMs = 0
  #busyMs = 0
  #cpuMs = 0
  #requests = 0
  #lateMs = 0

  /** @param {Connection} connection @param {number} dueAt */
  take (connection, dueAt) {
    const isAsleep = this.queue.length === 0
    if (isAsleep) this.wakes++
    this.queue.push({ dueAt, leftMs: connection.costMs + (isAsleep ? WAKE_MS : 0) })
    connection.requests++
    this.#requests++
  }

  /**
   * Has the CPU for a part of this millisecond.
   *
   * @param {number} at @param {number} ms @param {(latencyMs: number) => void} answered
   */
  run (at, ms, answered) {
    let left = ms
    while (this.queue.length > 0 && left > 0) {
      const [first] = this.queue
      const used = Math.min(left, first.leftMs)
      first.leftMs -= used
      left -= used
      if (first.leftMs > 0) break
      this.queue.shift()
      const latencyMs = at + (ms - left) / ms - first.dueAt
      this.#lateMs = Math.max(this.#lateMs, latencyMs)
      answered(latencyMs)
    }
    this.#busyMs += Math.min(1, (ms - left) / ms)
    this.#cpuMs += ms - left
  }

  beat () {
    const busy = Math.min(1, this.#busyMs / BEAT_MS)
    for (const connection of this.connections) {
      connection.load = (connection.load + busy * connection.requests / Math.max(1, this.#requests)) / 2
      connection.requests = 0
    }
    this.busy = (this.busy + busy) / 2
    this.cpus = this.#cpuMs / BEAT_MS
    this.rate = 1000 * this.#requests / BEAT_MS
    this.lateMs = this.#lateMs
    this.#busyMs = this.#cpuMs = this.#requests = this.#lateMs = 0
  }
}

class SyntheticFleet {
  /** @type {SyntheticWorker[]} */
  workers = []
  moves = 0
  /** Others do their load. @type {Set<SyntheticWorker>} */
  resting = new Set()
  #gathering = new Gathering()
  #turn = 0

  /** @param {Policy} policy @param {Random} random @param {number} cpus */
  constructor (policy, random, cpus) {
    this.policy = policy
    this.random = random
    this.cpus = cpus
  }

  get isMoving () {
    return this.policy === 'load' || this.policy === 'count'
  }

  /** Which worker accepts a connection: of one queue, one that sleeps. @returns {SyntheticWorker} */
  accepting () {
    if (this.policy === 'round robin') return this.workers[this.#turn++ % this.workers.length]
    if (this.policy === 'least connections') return this.workers.reduce((least, worker) => worker.connections.size < least.connections.size ? worker : least)
    const idle = this.workers.filter(({ queue }) => queue.length === 0)
    const some = idle.length > 0 ? idle : this.workers
    return some[Math.floor(this.random.uniform() * some.length)]
  }

  /** @param {number} at */
  beat (at) {
    const { workers, resting, cpus } = this
    for (const worker of workers) worker.beat()
    const sum = (/** @type {'cpus' | 'rate'} */ key) => workers.reduce((total, worker) => total + worker[key], 0)
    const isGathered = this.policy === 'load' && this.#gathering.look({ cpus: sum('cpus'), rate: sum('rate'), lagMs: Math.max(...workers.map(({ lateMs }) => lateMs)), connections: workers.reduce((total, { connections }) => total + connections.size, 0), isFlexible: true }, cpus, at)
    const seen = workers.map(worker => ({ worker, busy: worker.busy, isResting: resting.has(worker) }))
    this.resting = new Set(isGathered ? restingOf(seen, cpus).map(({ worker }) => worker) : [])
  }

  decide () {
    const isByLoad = this.policy === 'load'
    const gifts = giftsOf(this.workers.map(worker => ({
      busy: isByLoad ? worker.busy : 0,
      movable: worker.busy,
      lasting: worker.connections.size,
      isResting: this.resting.has(worker)
    })))
    const given = gifts.map((gift, i) => isGift(gift) ? [...choose([...this.workers[i].connections], gift).keys()] : [])
    given.forEach((connections, i) => {
      for (const connection of connections) {
        this.move(connection, this.workers.filter((_, at) => at !== i))
      }
    })
  }

  /** @param {Connection} connection @param {SyntheticWorker[]} others */
  move (connection, others) {
    const load = this.policy === 'load' ? connection.load : 0
    const { worker } = receiverOf(others.map(worker => ({
      worker, busy: worker.busy, connections: worker.connections.size, isResting: this.resting.has(worker)
    })), load)
    connection.worker.connections.delete(connection)
    worker.connections.add(connection)
    connection.worker.busy -= connection.load
    worker.busy += connection.load
    connection.worker = worker
    this.moves++
  }

  /** One worker is replaced by another. @param {SyntheticWorker} old */
  replace (old) {
    this.workers[this.workers.indexOf(old)] = new SyntheticWorker()
    const fresh = this.workers
    for (const connection of [...old.connections]) {
      if (this.isMoving) {
        this.move(connection, fresh)
      } else {
        connection.worker = this.accepting()
        connection.worker.connections.add(connection)
      }
    }
  }
}

/**
 * @param {object} how
 * @param {number} how.seed
 * @param {Policy} how.policy
 * @param {Kind} how.kind
 * @param {number} how.workers
 * @param {number} how.cpus
 * @param {number} how.seconds
 */
function simulate ({ seed, policy, kind, workers, cpus, seconds }) {
  const random = new Random(seed)
  const fleet = new SyntheticFleet(policy, random, cpus)
  for (let i = 0; i < (kind.workersAtFirst ?? workers); i++) fleet.workers.push(new SyntheticWorker())
  /** @type {Connection[]} */
  const all = []
  const open = (/** @type {number} */ weight, costMs = kind.costMs) => {
    const worker = fleet.accepting()
    const connection = { worker, weight, costMs, load: 0, requests: 0 }
    worker.connections.add(connection)
    all.push(connection)
  }
  for (let i = 0; i < kind.connections; i++) {
    const isSlow = i < (kind.slow ?? 0)
    open(
      kind.busy
        ? 1e-4
        : kind.zipf ? (1 + Math.floor(random.uniform() * kind.connections)) ** -kind.zipf : isSlow ? 0.1 : 1,
      isSlow ? 40 * kind.costMs : kind.costMs
    )
  }
  if (kind.busy) for (const connection of [...fleet.workers[0].connections].slice(0, kind.busy)) connection.weight = 1
  // Requests a millisecond, by weight
  const scale = kind.share * cpus / all.reduce((sum, { weight, costMs }) => sum + weight * costMs, 0)
  let sums = prefixSums(all)

  const retired = []
  /** @type {number[]} */
  const latencies = []
  const lengthMs = 1000 * seconds
  for (let at = 0; at < lengthMs; at++) {
    if (kind.storm && at >= lengthMs / 2 && at < lengthMs / 2 + 2000) {
      for (let due = random.poisson(kind.storm / 2000); due > 0; due--) open(kind.connections / kind.storm / 10)
      sums = prefixSums(all)
    }
    if (kind.workersAtFirst && at === lengthMs / 2) {
      while (fleet.workers.length < workers) {
        fleet.workers.push(new SyntheticWorker())
      }
    }
    if (kind.recycleEveryMs && at % kind.recycleEveryMs === kind.recycleEveryMs - 1) {
      const old = fleet.workers[Math.floor(at / kind.recycleEveryMs) % fleet.workers.length]
      retired.push(old)
      fleet.replace(old)
    }
    for (let due = random.poisson(scale * (kind.factor?.(at / lengthMs) ?? 1) * sums[sums.length - 1]); due >
      0; due--) {
      const connection = all[indexIn(sums, random.uniform() * sums[sums.length - 1])]
      connection.worker.take(connection, at)
    }
    const running = [...fleet.workers, ...retired].filter(({ queue }) => queue.length > 0)
    for (const worker of running) {
      worker.run(at, Math.min(1, cpus / running.length), latencyMs => {
        if (at > WARM_MS) {
          latencies.push(latencyMs)
        }
      })
    }
    if (at % BEAT_MS === BEAT_MS - 1) fleet.beat(at)
    if (fleet.isMoving && at % DECIDE_MS === DECIDE_MS - 1) fleet.decide()
  }
  const sizes = fleet.workers.map(({ connections }) => connections.size)
  const wakes = [...fleet.workers, ...retired].reduce((sum, { wakes }) => sum + wakes, 0)
  return {
    ...percentiles(latencies),
    moves: fleet.moves,
    wakesPerSecond: wakes / seconds,
    fullest: Math.max(...sizes) * sizes.length / all.length
  }
}

/** @param {Connection[]} all */
function prefixSums (all) {
  let sum = 0
  return all.map(({ weight }) => (sum += weight))
}

/** @param {number[]} sums @param {number} value @returns {number} the first that is above it */
function indexIn (sums, value) {
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sums[middle] > value) high = middle
    else low = middle + 1
  }
  return low
}

module.exports = { simulate }
