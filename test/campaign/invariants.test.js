'use strict'

/** The checker of the campaign accepts what a fleet writes, and finds each lie that is put into it. */

const t = require('tap')
const { check } = require('./invariants')
const { readLines } = require('./lives')

const OPTIONS = { workers: 2, maxSurge: 1, maxUnavailable: 0, standby: 0 }
const ACCOUNT = {
  connections: 3,
  inFlight: 1,
  finished: 1,
  aborted: 0,
  moved: 2,
  refused: 0,
  takenBack: 0,
  replayed: 0,
  closedByClient: 1,
  closedAfterResponse: 0,
  closedIdle: 0,
  cut: 0,
  unacked: 0,
  unaccounted: 0,
  cuts: [],
  lost: false
}

/** A fleet of two: slot 0 is recycled, the worker of slot 1 is killed and replaced, and the fleet stops. */
const JOURNAL = [
  { t: 0, event: 'fleet.start', pid: 1, options: OPTIONS },
  { t: 10, event: 'worker.spawn', slot: 0, pid: 10 },
  { t: 11, event: 'worker.spawn', slot: 1, pid: 11 },
  { t: 100, event: 'worker.ready', slot: 0, pid: 10 },
  { t: 110, event: 'worker.ready', slot: 1, pid: 11 },
  { t: 1000, event: 'worker.spawn', slot: 0, pid: 12 },
  { t: 1100, event: 'worker.ready', slot: 0, pid: 12 },
  { t: 1101, event: 'worker.drain', slot: 0, pid: 10, reason: 'requested' },
  { t: 1200, event: 'worker.retire', slot: 0, pid: 10, code: 0, signal: null },
  { t: 1201, event: 'recycled', slot: 0, pid: 12, oldPid: 10, ...ACCOUNT },
  { t: 9000, event: 'worker.crash', slot: 1, pid: 11, code: null, signal: 'SIGKILL' },
  { t: 9001, event: 'worker.spawn', slot: 1, pid: 13 },
  { t: 9100, event: 'worker.ready', slot: 1, pid: 13 },
  { t: 20_000, event: 'fleet.stopping' },
  { t: 20_001, event: 'worker.drain', slot: 0, pid: 12, reason: 'stop' },
  { t: 20_001, event: 'worker.drain', slot: 1, pid: 13, reason: 'stop' },
  { t: 20_100, event: 'worker.retire', slot: 0, pid: 12 },
  { t: 20_100, event: 'stopped', slot: 0, oldPid: 12, ...ACCOUNT },
  { t: 20_101, event: 'worker.retire', slot: 1, pid: 13 },
  { t: 20_101, event: 'stopped', slot: 1, oldPid: 13, ...ACCOUNT },
  { t: 20_102, event: 'fleet.stop', recycles: 1 }
]
const REQUESTS = [
  { startedAt: 500, t: 510, port: 5000, pid: 10, error: null },
  { startedAt: 1150, t: 1190, port: 5000, pid: 10, error: null },
  { startedAt: 9000, t: 9005, port: 5001, pid: 11, error: 'ECONNRESET' },
  { startedAt: 9200, t: 9205, port: 5002, pid: 13, error: null }
]
const FAULTS = [{ kind: 'SIGKILL of a worker', from: 8990, to: 9100, pids: [11] }]
const PROCESSES = [500, 5000, 9050, 15_000].map(
  t => ({ t, living: t < 1100 ? [10, 11] : t < 9000 ? [11, 12] : [12, 13], zombies: t === 9050 ? [11] : [] })
)

/**
 * @param {{ journal?: any[], requests?: any[], faults?: any[], processes?: any[], left?: number[], text?: string }}
 *   [evidence]
 */
const judge = ({ journal = JOURNAL, text = journal.map(line => `${JSON.stringify(line)}\n`).join(''), requests = REQUESTS, faults = FAULTS, processes = PROCESSES, left = [] } = {}) =>
  check({ journal: text, requests, faults, processes, left })
/** @param {(line: any) => boolean} which @param {any} [change] without one, the line is left out */
const doctored = (which, change) =>
  JOURNAL.flatMap(line => !which(line) ? [line] : change ? [{ ...line, ...change }] : [])
const is = (/** @type {string} */ event, /** @type {number} */ pid) =>
  (/** @type {any} */ line) => line.event === event && (line.pid === pid || line.oldPid === pid)
const rules = (/** @type {any} */ evidence) => [...new Set(judge(evidence).violations.map(({ rule }) => rule))]

t.test('an honest journal has no violation, and the fault explains the request that failed', async t => {
  t.same(judge(), { violations: [], explained: FAULTS })
})

t.test('it finds a journal that is doctored', async t => {
  /** @type {[string, any, string][]} */
  const lies = [
    ['the replacement is ready after the drain of its predecessor', { journal: doctored(is('worker.ready', 12), { t: 1102 }).sort((a, b) => a.t - b.t) }, 'ready'],
    ['a worker drains for which no other one has come up', { journal: doctored(is('worker.ready', 12)) }, 'ready'],
    ['a process more than the surge', { journal: [...JOURNAL.slice(0, 6), { t: 1001, event: 'worker.spawn', slot: 1, pid: 99 }, ...JOURNAL.slice(6), { t: 30_000, event: 'worker.retire', slot: 1, pid: 99 }] }, 'surge'],
    ['a worker without an end', { journal: doctored(is('worker.retire', 12)) }, 'pid'],
    ['a worker that ends twice', { journal: JOURNAL.flatMap(line => is('worker.crash', 11)(line) ? [line, line] : [line]) }, 'pid'],
    ['a worker that was not spawned', { journal: doctored(is('worker.spawn', 13)) }, 'pid'],
    ['a connection that ends in no way', { journal: doctored(is('recycled', 10), { moved: 1 }) }, 'account'],
    ['a connection that ends in two ways', { journal: doctored(is('recycled', 10), { closedIdle: 1 }) }, 'account'],
    ['a negative count', { journal: doctored(is('recycled', 10), { moved: 4, closedByClient: -1 }) }, 'account'],
    ['a drain without an account', { journal: doctored(is('recycled', 10)) }, 'account'],
    ['two accounts of a worker', { journal: JOURNAL.flatMap(line => is('recycled', 10)(line) ? [line, line] : [line]) }, 'account'],
    ['a cut without a fault', { journal: doctored(is('recycled', 10), { moved: 1, cut: 1, cuts: [{ remotePort: 5000 }] }) }, 'cut'],
    ['a cut that is not named', { journal: doctored(is('recycled', 10), { moved: 1, cut: 1 }), faults: [...FAULTS, { kind: 'x', from: 1000, to: 1201, pids: [10] }] }, 'cut'],
    ['a lost account without a fault', { journal: doctored(is('recycled', 10), { lost: true }) }, 'cut'],
    ['a drain of less than no time', { journal: doctored(is('recycled', 10), { drainMs: -1 }) }, 'duration'],
    ['an age beyond that of the fleet', { journal: doctored(is('recycled', 10), { ageMs: 72 * 3600 * 1000 }) }, 'duration'],
    ['a message at which the primary failed', { journal: [...JOURNAL.slice(0, 6), { t: 1001, event: 'worker.protocol-error', slot: 1, pid: 11, type: 'beat', flaw: 'the primary failed at it: TypeError' }, ...JOURNAL.slice(6)] }, 'exception'],
    ['a line that is torn', { text: `${JOURNAL.map(line => JSON.stringify(line)).join('\n')}\n{"t":1,` }, 'journal']
  ]
  for (const [name, evidence, rule] of lies) t.ok(rules(evidence).includes(rule), `${name}: ${rules(evidence)}`)
})

t.test('it finds a request that no fault explains', async t => {
  const failed = (/** @type {any} */ change) => ({ requests: [...REQUESTS, { ...REQUESTS[2], ...change }] })
  /** @type {[string, any][]} */
  const drops = [
    ['of another worker', failed({ pid: 12 })],
    ['of that worker, before the fault', failed({ startedAt: 8000, t: 8100 })],
    ['of that worker, long after it', failed({ startedAt: 9000, t: 14_000 })],
    ['that waited', failed({ error: 'timeout' })],
    ['with other bytes', failed({ error: 'other bytes than expected' })],
    ['where the fault may cost nothing', { faults: [{ ...FAULTS[0], pids: [] }] }]
  ]
  for (const [name, evidence] of drops) t.same(rules(evidence), ['drop'], name)
  t.same(rules(failed({ pid: null })), [], 'a new connection may have been in any worker')
  const moved = { startedAt: 9000, t: 9005, port: 5000, pid: 10, error: 'ECONNRESET' }
  t.same(rules({ requests: [moved] }), [], 'its worker had left: it may have moved to that one')
  t.same(rules({ ...failed({ pid: 12 }), faults: [{ ...FAULTS[0], ports: [5001] }] }), [], 'it had been moved to the worker that was hit')
  const aside = [{ t: 8900, event: 'worker.out-of-rotation', slot: 0, pid: 12 }, { t: 8980, event: 'worker.in-rotation', slot: 0, pid: 12, why: null }]
  const journal = JOURNAL.flatMap(line => is('worker.crash', 11)(line) ? [...aside, line] : [line])
  t.same(rules({ ...failed({ pid: 12 }), journal }), [], 'its worker was out of rotation just before')
  t.same(rules({ ...failed({ pid: 12, startedAt: 9090, t: 9095 }), journal }), ['drop'], 'its worker was out of rotation before')
  t.same(rules({ requests: [{ ...REQUESTS[0], pid: 77 }] }), ['response'], 'a response of a process that is no worker')
  t.same(rules({ requests: [{ ...REQUESTS[0], startedAt: 5000, t: 5001 }] }), ['response'], 'of a worker that was gone')
})

t.test('it finds processes that the journal does not have', async t => {
  const looks = (/** @type {any} */ change) => ({
    processes: Array.from({ length: 30 }, (_, i) => ({ t: 3000 + 200 * i, living: [11, 12], zombies: [], ...change }))
  })
  t.same(rules(looks({})), [])
  t.same(rules(looks({ living: [11, 12, 50] })), ['process'], 'one too many')
  t.same(rules(looks({ living: [10, 11, 12] })), ['process'], 'one that has exited, by the journal')
  t.same(rules(looks({ zombies: [10] })), ['process'], 'a zombie')
  t.same(rules({ left: [12] }), ['process'], 'one that is alive after the end')
})

t.test('it reads lines by itself, and counts those that are none', async t => {
  t.same(readLines('{"t":1,"event":"a"}\n\nnull\n[]\n{"t":"1","event":"a"}\n{"t":1}\nx\n'), { lines: [{ t: 1, event: 'a' }], torn: 5 })
  for (const file of ['./invariants', './lives']) {
    t.notMatch(require('node:fs').readFileSync(require.resolve(file), 'utf8'), /require\((?!'\.\/lives'\))/, 'and uses nothing of what it judges')
  }
})
