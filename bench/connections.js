'use strict'

/**
 * Parked long polls, many, with sprites flowing between their clients (examples/sprites), and then every worker is
 * replaced while they are parked: by recycle, and beside it by a bare cluster that kills one worker after the other.
 *
 *     npm run bench:connections -- [--sizes 20000,100004,250001] [--every 5] [--rate 0] [--seconds 20] [--workers 0] [--quick]
 *
 * At the end the worker that has most is killed, and then another one (`--kills 2`; recycle alone).
 *
 * `--every`: each client throws a sprite so often, in seconds, to a client at random; where the machine does not carry
 * that, less, which is found out and printed as sprites/s. `--rate`: sprites a second instead. The limits of the
 * machine are read and printed; none is changed. One round unless --rounds says otherwise.
 */

const { openBench } = require('./support/rounds')
const { BadFlag } = require('./support/flags')
const { temporaryFolder } = require('./support/folder')
const { limits } = require('./connections/memory')
const { Run } = require('./connections/run')

const WORKER_SHARE = 0.785 // of a worker's descriptors, as a mean: the fullest may have 1.25 times as many
const CLIENT_SHARE = 0.925 // of a client process's
const BYTES = 40_000 // that a connection takes at the most, with its other end and the client
const MOST_PROBED = 3000 // sprites a second, from which the search begins

const bench = openBench({
  name: 'connections',
  options: { rounds: '1', sizes: '20000,100004,250001', every: '5', rate: '0', seconds: '20', kills: '2', workers: '0' },
  quick: { sizes: '2000', rate: '200', seconds: '2', kills: '1' }
})
const { values } = bench
const [every, rate, seconds, kills, fewest] = ['every', 'rate', 'seconds', 'kills', 'workers'].map(key => Number(values[key]))
/** @type {number[]} */
const sizes = values.sizes.split(',').filter(Boolean).map(Number)
const { descriptors, ports, backlog, freeBytes } = limits()
const folder = temporaryFolder()

main()

async function main () {
  const most = Math.max(...sizes)
  console.log(`${descriptors} descriptors a process, ${ports} ports a pair of addresses, a backlog of ${backlog}, ${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`)
  if (most * BYTES > freeBytes) throw new BadFlag(`--sizes: ${most} connections take about ${Math.round(most * BYTES / 1024 ** 3)} GiB here, with their clients, and ${(freeBytes / 1024 ** 3).toFixed(1)} are free`)
  await bench.run({
    groups: sizes.map(clients => ({
      name: `${clients} connections`,
      subjects: { recycle: at => measure('recycle', clients, at), 'bare cluster': at => measure('cluster', clients, at) }
    })),
    columns: [
      { key: 'workers', title: 'workers', brief: true },
      { key: 'connectionsPerSecond', title: 'connections/s' },
      { key: 'pssBytes', title: 'PSS, bytes each' },
      { key: 'heapBytes', title: 'heap, bytes each' },
      { key: 'socketBufferBytes', title: 'socket buffers, bytes each' },
      { key: 'slabBytes', title: 'slab, bytes each' },
      { key: 'spritesPerSecond', title: 'sprites/s', set: 'flow' },
      { key: 'p50', title: 'p50 ms', digits: 1, set: 'flow' },
      { key: 'p99', title: 'p99 ms', digits: 1, set: 'flow' },
      { key: 'stallMs', title: 'longest stall ms', set: 'flow' },
      { key: 'replaceSeconds', title: 'all replaced, s', digits: 1, set: 'replace' },
      { key: 'dropped', title: 'dropped', total: true, set: 'replace' },
      { key: 'lost', title: 'sprites lost', total: true, set: 'replace' },
      { key: 'reconnects', title: 'reconnected', total: true, set: 'replace' },
      { key: 'replaceP50', title: 'p50 ms', digits: 1, set: 'replace' },
      { key: 'replaceP99', title: 'p99 ms', digits: 1, set: 'replace' },
      { key: 'replaceStallMs', title: 'longest stall ms', set: 'replace' },
      { key: 'fullestByMean', title: 'fullest ÷ mean', digits: 2, set: 'replace' },
      { key: 'killed', title: 'connections killed', set: 'kill' },
      { key: 'killMoved', title: 'moved', set: 'kill' },
      { key: 'killReplayed', title: 'replayed', set: 'kill' },
      { key: 'killDropped', title: 'dropped', total: true, set: 'kill' },
      { key: 'killReconnects', title: 'reconnected', total: true, set: 'kill' },
      { key: 'parkedSeconds', title: 'all parked again, s', digits: 1, set: 'kill' }
    ],
    goals: [
      { subject: 'recycle', key: 'dropped', atMost: 0 },
      { subject: 'recycle', key: 'lost', atMost: 0 },
      { subject: 'recycle', key: 'reconnects', atMost: 0 },
      ...kills > 0 ? [{ subject: 'recycle', key: 'killDropped', atMost: 0 }, { subject: 'recycle', key: 'killReconnects', atMost: 0 }] : [],
      { subject: 'recycle', key: 'fullestByMean', atMost: 1.25 }
    ]
  })
}

/** The sums over all kills. @param {Run} run */
async function killed (run) {
  /** @type {Record<string, number>} */
  const sums = {}
  for (let i = 0; i < kills; i++) {
    for (const [key, value] of Object.entries(await run.kill())) {
      sums[key] = (sums[key] ?? 0) + value
    }
  }
  return { ...sums, parkedSeconds: sums.parkedSeconds / kills }
}

/**
 * @param {'recycle' | 'cluster'} kind @param {number} clients
 * @param {{ round: number, say: (text: string) => void }} at
 */
async function measure (kind, clients, { round, say }) {
  if (round < 0) return {} // a warm-up would take as long
  const workers = Math.max(2, fewest, Math.ceil(clients / (descriptors * WORKER_SHARE)))
  const run = new Run({
    kind,
    clients,
    workers,
    clientsAProcess: Math.floor(Math.min(ports, descriptors) * CLIENT_SHARE),
    folder,
    settleMs: values.quick ? 300 : 3000,
    say
  })
  try {
    await run.start()
    const stormed = await run.storm()
    const wished = rate || Math.min(clients / every, MOST_PROBED)
    const carried = rate || await run.findRate(wished)
    const flowed = await run.flow(carried, seconds)
    return { workers, ...stormed, ...flowed, ...await run.replace(), ...kind === 'recycle' ? await killed(run) : {} }
  } finally {
    await run.stop()
  }
}
