'use strict'

/**
 * A load that grows tenfold at once, and falls again: how long until the latency is what a fleet has that was large all
 * along, and what is dropped while the number of workers grows and shrinks. recycle beside Watt's dynamic workers and
 * pm2 with pm2-autoscale.
 *
 *     npm run bench:elastic -- [--peers large,recycle,watt,pm2] [--workers 4] [--rate 16] [--connections 24] [--seconds 60] [--calm 140] [--quick]
 *
 * Each request costs the CPU 7 ms; the clients have keep-alive connections, which are all opened while there is one
 * worker. `large` is recycle with all workers from the beginning, and always runs first. Recovered: the first five
 * seconds whose p99 is within 1.5 × of large's median, and every five seconds after them on average, too.
 */

const { openBench } = require('./support/rounds')
const { PEERS, install } = require('./peers/elastic')
const { takeStep } = require('./support/load-step')

const WITHIN = 1.5

const bench = openBench({
  name: 'elastic',
  options: { rounds: '1', peers: { default: Object.keys(PEERS).join(','), of: Object.keys(PEERS) }, workers: '4', rate: '16', connections: '24', seconds: '60', calm: '140' },
  quick: { peers: 'large,recycle', workers: '2', rate: '3', connections: '4', seconds: '2', calm: '1' }
})
const [workers, rate, connections, seconds, calm] = ['workers', 'rate', 'connections', 'seconds', 'calm'].map(key => Number(bench.values[key]))
const names = [...new Set(['large', ...bench.values.peers.split(',')])]

/** Of the fleet that was large all along, ms. */
let usual = NaN

main().catch(error => {
  console.error(`bench:elastic: ${error.message}`)
  process.exit(1)
})

async function main () {
  install(names)
  await bench.run({
    groups: [{ name: `${rate} to ${10 * rate} requests/s`, subjects: Object.fromEntries(names.map(name => [name, ({ say, round }) => round < 0 ? {} : measure(name, say)])), beside: ['large'] }],
    columns: [
      { key: 'recoveredAfter', title: 'recovered after, s' },
      { key: 'p99', title: 'p99 of the whole step, ms', digits: 0 },
      { key: 'lastP99', title: 'p99 of its last 15 s, ms', digits: 0 },
      { key: 'most', title: 'most workers' },
      { key: 'least', title: 'workers in the end' },
      { key: 'requests', title: 'requests', total: true },
      { key: 'dropped', title: 'dropped', total: true },
      { key: 'reopened', title: 'reopened', total: true }
    ],
    note: `Recovered: p99 within ${WITHIN} × of the fleet that was large all along.`
  })
}

/** @param {string} name @param {(text: string) => void} say */
async function measure (name, say) {
  const isLarge = name === 'large'
  const { p99s, ...figures } = await takeStep(PEERS[name], {
    max: workers,
    rate,
    connections,
    beforeMs: bench.values.quick ? 500 : 8000 + PEERS[name].graceMs,
    stepMs: isLarge ? Math.min(30, seconds) * 1000 : seconds * 1000,
    calmMs: isLarge ? 0 : calm * 1000,
    say
  })
  if (isLarge) usual = median(p99s)
  const recovered = isLarge
    ? -1
    : p99s.findIndex((p99, i) => p99 <= WITHIN * usual && median(p99s.slice(i)) <= WITHIN * usual)
  return { ...figures, recoveredAfter: recovered < 0 ? undefined : recovered }
}

/** @param {number[]} values */
function median (values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
