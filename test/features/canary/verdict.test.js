'use strict'

const fc = require('fast-check')
const t = require('tap')
const { blockBetween, countCollection, countResponse, newConnection, newCounts } = require('../../../lib/features/canary/counts')
const { RESPONSES } = require('../../../lib/features/canary/kinds')
const { judge } = require('../../../lib/features/canary/verdict')
const { sentenceOf, valueOf } = require('../../../lib/features/canary/sentence')
const { seeded } = require('../../support/random')

/**
 * @typedef {import('../../../lib/features/canary/verdict').Window} Window
 * @typedef {import('../../../lib/features/canary/verdict').Figure} Figure
 */

const THRESHOLDS = { medianMs: 50, tailMs: 99 }

/**
 * A worker whose responses take 0 to 100 ms, evenly, on `connections` connections in turn.
 *
 * @param {number} slot also the seed
 * @param {object} [how]
 * @param {number} [how.requests] in each of the blocks
 * @param {number} [how.connections]
 * @param {number} [how.blocks]
 * @param {(at: { connection: number, block: number, draw: number }) => number} [how.status]
 * @param {number} [how.unfinished] a share of responses
 * @param {number} [how.slower] times
 * @param {number} [how.hung] a share of responses, which take a second
 * @param {number} [how.busyMs] a request
 * @param {number} [how.idleMs] a block
 * @param {number} [how.kept] bytes of a request
 * @param {(at: number) => number} [how.garbage] bytes that a mark-sweep at the end of the block frees
 * @param {number} [how.crashes]
 * @param {number} [how.exceptions]
 * @returns {Window}
 */
function worker (slot, {
  requests = 50, connections = 10, blocks = 24, status = () =>
    200, slower = 1, unfinished = 0, hung = 0, busyMs = 2, idleMs = 0, kept = 0, garbage = () =>
    0, crashes = 0, exceptions = 0
} = {}) {
  const random = seeded(slot + 1)
  const counts = newCounts()
  const clients = Array.from({ length: connections }, newConnection)
  const window = {
    ...counts,
    slot,
    crashes,
    exceptions,
    half: /** @type {Window['half']} */ (null),
    blocks: /** @type {Window['blocks']} */ ([])
  }
  let live = 1e7
  for (let block = 0; block < blocks; block++) {
    const before = structuredClone(counts)
    for (let i = 0; i < requests; i++) {
      const connection = i % connections
      countResponse(counts, clients[connection], {
        status: status({ connection, block, draw: random() }),
        ms: random() < hung ? 1000 : 100 * slower * random(),
        isUnfinished: unfinished > 0 && random() < unfinished
      }, THRESHOLDS)
      live += kept
    }
    counts.busyMs += idleMs + requests * busyMs * (0.9 + 0.2 * random())
    window.blocks.push(blockBetween(counts, before))
    countCollection(counts.memory, {
      requests: counts.requests, liveBytes: live + 1e4 * random() + garbage(block)
    }, block % 12 === 0 || block === blocks - 1)
    if (block === blocks >> 1) window.half = structuredClone(counts.memory)
  }
  return { ...window, ...counts }
}

/** @param {Parameters<typeof worker>[1]} [how] of each of four old workers */
const four = how => [0, 1, 2, 3].map(slot => worker(slot, how))
/**
 * @param {Parameters<typeof worker>[1]} how of the new worker @param {Parameters<typeof worker>[1]} [old]
 * @param {Partial<Parameters<typeof judge>[0]>} [more]
 */
const judged = (how, old = {}, more = {}) => judge({ old: four(old), fresh: [worker(4, how)], isFinal: true, ...more })
/** @param {ReturnType<typeof judge>} verdict @param {string} name */
const figure = ({ figures }, name) => /** @type {Figure} */ (figures.find(figure => figure.name === name))
/** A share of the responses have this status. @param {number} share @param {number} [code] */
const often = (share, code = 500) => (/** @type {{ draw: number }} */ { draw }) => draw < share ? code : 200

t.test('equal code is good', async t => {
  const verdict = judged({}, {})
  t.match(verdict, { verdict: 'good', decidedBy: null, workers: { old: 4, fresh: 1 }, requests: { old: 4800, fresh: 1200 } })
  t.same(verdict.figures.map(({ name }) => name), ['crashes', 'exceptions', 'errors', 'unfinished', 'refusals', 'empty', 'p50', 'p99', 'loop', 'memory'])
  t.ok(verdict.figures.every(({ isWorse, why }) => !isWorse && why?.startsWith('it is ')))
  t.equal(sentenceOf(verdict), 'no figure is worse: 1,200 requests of the new code and 4,800 of the old')
})

t.test('each kind of worse code is found, and named with its two figures', async t => {
  /** @type {[Figure['name'], Parameters<typeof worker>[1], RegExp][]} */
  const cases = [
    ['errors', { status: often(0.03) }, /^responses with 5xx: [234]\.\d\d % of 1,200 requests, against 0\.00 % of 4,800 of the old workers$/],
    ['unfinished', { unfinished: 0.05 }, /^unfinished responses: [456]\.\d\d % of 1,200 requests, against 0\.00 % of 4,800/],
    ['refusals', { status: often(0.5, 404) }, /^responses with 4xx: \d\d\.\d\d % of 1,200 requests, against 0\.00 % of 4,800/],
    ['empty', { status: often(0.5, 302) }, /^redirects and empty responses: \d\d\.\d\d % of 1,200 requests, against 0\.00 % of 4,800/],
    ['p50', { slower: 1.4 }, /^median time to the response: \d\d ms over 1,200 requests, against (?:4|5)\d ms over 4,800 of the old workers$/],
    ['loop', { busyMs: 3 }, /^time of the event loop for a request: [23](?:\.\d)? ms over 1,200 requests, against (?:2|1\.9) ms over/],
    ['memory', { kept: 4096 }, /^memory kept of a request: [34](?:\.\d)? KiB over 1,200 requests, against -?\d+(?:\.\d)? B over/],
    ['crashes', { crashes: 6 }, /^crashes: 6 over 1,200 requests, against 0 over 4,800 of the old workers$/],
    ['exceptions', { exceptions: 1234 }, /^uncaught exceptions: 1,234 over 1,200 requests, against 0 over/]
  ]
  for (const [name, how, sentence] of cases) {
    const verdict = judged(how)
    t.match(verdict, { verdict: 'bad', decidedBy: name })
    t.match(figure(verdict, name), { isWorse: true, why: null })
    t.match(sentenceOf(verdict), sentence)
  }
  const tail = judged({ hung: 0.06 })
  t.match(tail, { verdict: 'bad', decidedBy: 'p99' })
  t.ok(Number(figure(tail, 'p99').slow?.fresh) > 0.05)
  t.match(sentenceOf(tail), /^99th percentile of the time to the response: (?:9\d\d|1,0\d\d) ms over 1,200 requests, against (?:9\d|10\d) ms over/)
})

t.test('what the old workers do as well is not worse', async t => {
  for (const how of [
    { status: often(0.03) }, { unfinished: 0.05 }, { status: often(0.5, 404) }, { status: often(0.5, 302) },
    { slower: 1.4 }, { busyMs: 3 }, { kept: 4096 }, { crashes: 6 }, { exceptions: 50 }
  ]) {
    t.match(judged(how, how), { verdict: 'good' }, JSON.stringify(how))
  }
})

t.test('nor what is better', async t => {
  const worse = { status: often(0.1), slower: 1.5, busyMs: 4, kept: 4096, crashes: 3, exceptions: 3 }
  t.match(judged({}, worse), { verdict: 'good' })
})

t.test('as bad as one of the old workers is not worse', async t => {
  const old = [...four().slice(1), worker(7, { status: often(0.03) })]
  const verdict = judge({ old, fresh: [worker(4, { status: often(0.03) })], isFinal: true })
  t.match(verdict, { verdict: 'good' })
  t.match(figure(verdict, 'errors').why, /than in one of the old workers/)
})

t.test('a client that always fails, on one of the connections, does not decide', async t => {
  const status = (/** @type {{ connection: number }} */ { connection }) => connection === 3 ? 500 : 200
  t.match(judged({ status }), { verdict: 'good' })
  t.match(judged({ status, connections: 4 }), { verdict: 'good' })
})

t.test('four errors are too few, also beside none of four times as many requests; six are not', async t => {
  for (const [most, verdict] of /** @type {const} */ ([[4, 'good'], [6, 'bad']])) {
    let failed = 0
    const status = (/** @type {{ connection: number, block: number }} */ { connection, block }) =>
      connection === 5 * block && failed++ < most ? 500 : 200
    t.match(judged({ status, connections: 50 }, { connections: 50 }), { verdict }, String(most))
  }
})

t.test('a few connections are believed as little as those of the old code are alike, unless nearly all responses fail', async t => {
  const clients = (/** @type {{ connection: number, draw: number }} */ { connection, draw }) =>
    connection === 0 && draw < 0.6 ? 500 : 200
  const verdict = judged({ status: often(0.6), connections: 2 }, { status: clients })
  t.match(verdict, { verdict: 'good' })
  t.match(figure(verdict, 'errors').why, /chance/)
  t.match(judged({ status: often(0.6), connections: 2 }, {}), { verdict: 'bad', decidedBy: 'errors' })
  const bot = (/** @type {{ connection: number }} */ { connection }) => connection === 0 ? 500 : 200
  t.match(judged({ status: often(0.85), connections: 2, requests: 10 }, { status: bot }), { verdict: 'good' })
  t.match(judged({ status: often(0.95), connections: 2, requests: 10 }, { status: bot }), { verdict: 'bad', decidedBy: 'errors' })
})

t.test('nor do a few seconds in which all responses of one worker fail; half a minute does', async t => {
  const status = (/** @type {number} */ most) => ({ block }) => block < most ? 500 : 200
  t.match(judged({ status: /** @type {any} */ (status)(1) }), { verdict: 'good' })
  t.match(judged({ status: /** @type {any} */ (status)(6) }), { verdict: 'bad', decidedBy: 'errors' })
})

t.test('nor the seconds in which those of all workers fail, also if most requests of the new code are in them', async t => {
  const status = (/** @type {{ block: number, draw: number }} */ { block, draw }) =>
    block >= 5 && block < 10 && draw < 0.8 ? 500 : 200
  const [before, meanwhile] = [worker(4, { status, blocks: 5 }), worker(4, { status, requests: 400 })]
  const of = meanwhile.of
  const busier = {
    ...meanwhile, blocks: meanwhile.blocks.map((block, at) => at >= 5 && at < 10 ? block : before.blocks[0])
  }
  const [requests, errors] = [busier.blocks.reduce((sum, block) => sum + block.requests, 0), of.errors]
  Object.assign(busier, {
    requests,
    connections: 10,
    squares: requests ** 2 / 10,
    ofSquares: { ...of, errors: errors ** 2 / 10 },
    ofProducts: { ...of, errors: errors * requests / 10 }
  })
  const verdict = judge({ old: four({ status }), fresh: [busier], isFinal: true })
  t.ok(Number(figure(verdict, 'errors').fresh) > 2 * Number(figure(verdict, 'errors').old))
  t.match(figure(verdict, 'errors'), { isWorse: false, why: /chance/ })
})

t.test('a 4xx takes more than a 5xx: clients ask for what is not there', async t => {
  t.match(judged({ status: often(0.06, 500) }), { verdict: 'bad', decidedBy: 'errors' })
  const verdict = judged({ status: often(0.06, 404) })
  t.match(verdict, { verdict: 'good' })
  t.match(figure(verdict, 'refusals'), { isWorse: false, why: 'it is not 10 percentage points and twice more' })
  const few = { requests: 1, blocks: 12 } // 12 requests, of which some 3 fail
  const [refused, failed] = [404, 500].map(code => judged({ ...few, status: often(0.3, code) }))
  t.ok(figure(refused, 'refusals').p > 99 * figure(failed, 'errors').p && figure(failed, 'errors').p < 1e-3)
})

t.test('fewer requests with the same work of its own is no longer time for a request', async t => {
  const idle = { idleMs: 100, busyMs: 0.5 }
  const old = [30, 50, 70, 90].map((requests, slot) => worker(slot, { ...idle, requests }))
  const verdict = judge({ old, fresh: [worker(4, { ...idle, requests: 15 })], isFinal: true })
  t.ok(Number(figure(verdict, 'loop').fresh) > 2 * Number(figure(verdict, 'loop').old))
  t.match(verdict, { verdict: 'good' })
  t.match(judge({ old, fresh: [worker(4, { ...idle, requests: 50, busyMs: 5 })], isFinal: true }), { verdict: 'bad', decidedBy: 'loop' })
})

t.test('with the same requests in all old workers little is known of their own work, and a busy loop of few requests is no longer time', async t => {
  const idle = { idleMs: 100, busyMs: 0.5 }
  t.match(judged({ ...idle, requests: 25 }, idle), { verdict: 'good' })
})

t.test('as long as in one of the old workers is not longer', async t => {
  const old = [...four().slice(1), worker(7, { busyMs: 4 })]
  const verdict = judge({ old, fresh: [worker(4, { busyMs: 4.2 })], isFinal: true })
  t.match(figure(verdict, 'loop'), { isWorse: false, why: /than in each old worker/ })
})

t.test('a growth of some bytes, or of little in all, is no leak', async t => {
  t.match(figure(judged({ kept: 200, requests: 400 }, { requests: 400 }), 'memory'), { isWorse: false, why: /not 256 bytes a request/ })
  t.match(figure(judged({ kept: 259, requests: 400 }, { requests: 400 }), 'memory'), { isWorse: false, why: 'it is within what chance alone makes' })
  t.match(figure(judged({ kept: 1500 }), 'memory'), { isWorse: false, why: /and 1 MiB/ })
  t.match(figure(judged({ kept: 1500, requests: 150 }, { requests: 150 }), 'memory'), { isWorse: true })
})

t.test('beside one old worker, which has had few mark-sweeps, scavenges tell, if mark-sweeps do not contradict', async t => {
  const beside = (/** @type {Parameters<typeof worker>[1]} */ how) => figure(judge({ old: [worker(1)], fresh: [worker(4, how)], isFinal: true }), 'memory')
  t.match(beside({ kept: 4096 }), { isWorse: true })
  const most = (/** @type {number} */ block) => 1.2e5 * block + (block === 23 ? 0 : 1e6 * (block % 12))
  const { p, isWorse, why } = beside({ garbage: most })
  t.ok(p < 1e-4 && !isWorse)
  t.match(why, /after mark-sweeps/)
  t.match(beside({ blocks: 5, kept: 1e5 }), { isWorse: false, why: /8 collections/ })
})

t.test('without two mark-sweeps of the new code nothing is known of its memory', async t => {
  const young = worker(4, { kept: 1e5 })
  young.memory.sweeps = structuredClone(/** @type {NonNullable<Window['half']>} */ (young.half).sweeps)
  t.match(figure(judge({ old: four(), fresh: [young], isFinal: true }), 'memory'), { isWorse: false, why: /after two mark-sweeps/ })
})

t.test('two crashes are no evidence, also beside none; nor are many by much of the work', async t => {
  t.match(judge({
    old: Array.from({ length: 99 }, (_, slot) => worker(slot, { blocks: 1 })),
    fresh: [worker(100, { crashes: 2, blocks: 1 })],
    isFinal: true
  }), { decidedBy: null })
  t.match(judge({ old: Array.from({ length: 99 }, (_, slot) => worker(slot, { blocks: 1 })), fresh: [worker(100, { crashes: 3, blocks: 1 })], isFinal: true }), { decidedBy: 'crashes' })
  t.match(judge({
    old: four().slice(0, 1), fresh: [10, 11, 12, 13].map(slot => worker(slot, { crashes: 3 })), isFinal: true
  }), { decidedBy: null })
  t.match(judge({ old: four(), fresh: [worker(4, { crashes: 4, requests: 1 })], isFinal: true }), { decidedBy: null }, 'by workers, where it has had few requests')
})

t.test('where the old workers have not crashed meanwhile, they are weighed since they began to serve', async t => {
  const of = (/** @type {number} */ ms, crashes = 0) => ({ ms, crashes, exceptions: 0 })
  const verdict = (/** @type {number} */ crashes, /** @type {any} */ service, beside = 0) => {
    const old = [worker(0, { crashes: beside }), ...four().slice(1, 3)]
    return judge({ old, fresh: [worker(4, { crashes })], service, isFinal: true })
  }
  t.match(verdict(4, null), { decidedBy: null }, 'four beside none of three others, in the same seconds alone')
  t.match(verdict(4, { old: of(39_000), fresh: of(10_000, 4) }), { decidedBy: 'crashes' })
  t.match(verdict(3, { old: of(39_000), fresh: of(10_000, 3) }), { decidedBy: null }, 'a fleet that has only begun')
  t.match(verdict(3, { old: of(3_600_000), fresh: of(10_000, 3) }), { decidedBy: 'crashes' })
  t.match(verdict(2, { old: of(3_600_000), fresh: of(10_000, 2) }), { decidedBy: null })
  t.match(verdict(2, { old: of(3_600_000), fresh: of(10_000, 3) }), { decidedBy: 'crashes' }, 'and one in the warm-up')
  t.match(verdict(4, { old: of(39_000, 12), fresh: of(10_000, 4) }), { decidedBy: null }, 'they have crashed before')
  t.match(verdict(4, { old: of(3_600_000, 1), fresh: of(10_000, 4) }, 1), { decidedBy: null }, 'what makes all workers crash may have begun now')
})

t.test('garbage that becomes old, and caches that fill, are no leak', async t => {
  const garbage = (/** @type {number} */ block) => block % 12 === 0 || block === 23 ? 0 : 5e5 * (block % 12)
  t.match(judged({ garbage }), { verdict: 'good' })
  const cache = (/** @type {number} */ block) => 2e7 * (1 - Math.exp(-block / 8))
  const verdict = judged({ garbage: cache })
  t.match(verdict, { verdict: 'good' })
  t.match(figure(verdict, 'memory').why, /as caches do/)
})

t.test('with too few requests nothing is said, but what is beyond doubt', async t => {
  const few = { requests: 5, connections: 5 }
  const verdict = judged(few)
  t.match(verdict, { verdict: 'undecided', decidedBy: null, leastRequests: 200 })
  t.equal(sentenceOf(verdict), 'too few requests to judge: 120 requests of the new code and 4,800 of the old; 200 of each are needed')
  t.match(sentenceOf(judged({ ...few, crashes: 1 })), / are needed; a worker of the new code has crashed once$/)
  t.match(judged(few, {}, { leastRequests: 120 }), { verdict: 'good' })
  t.match(judged({}, { requests: 2 }), { verdict: 'undecided' })
  t.match(judged({ ...few, status: () => 500 }), { verdict: 'bad', decidedBy: 'errors' })
})

t.test('without any request, worker or block there is a verdict', async t => {
  const none = { requests: 0, blocks: 0 }
  t.match(judged(none, none), { verdict: 'undecided' })
  t.match(judge({ old: [], fresh: [], isFinal: true }), { verdict: 'undecided' })
  t.match(judge({ old: [], fresh: [worker(4)], isFinal: false }), { verdict: 'going-on' })
  t.match(judged({ ...none, crashes: 6 }), { verdict: 'bad', decidedBy: 'crashes' })
  for (const { old, fresh, p } of judged(none, none).figures) {
    t.ok([old, fresh].every(value => value === null || Number.isFinite(value)) && p >= 0 && p <= 1)
  }
})

t.test('while the bake goes on, only what is far from chance is said', async t => {
  t.match(judged({ status: () => 500 }, {}, { isFinal: false }), { verdict: 'bad', decidedBy: 'errors' })
  const verdict = judged({ status: often(0.015) }, {}, { isFinal: false })
  t.match(verdict, { verdict: 'going-on', decidedBy: null })
  t.match(sentenceOf(verdict), /^no figure is worse so far: /)
  t.match(judged({ status: often(0.015) }), { verdict: 'bad' })
  t.match(figure(judged({ kept: 1e5 }, {}, { isFinal: false }), 'memory'), { isWorse: false, p: 1, why: 'it is known at the end of the bake' })
})

t.test('over all looks of an hour equal code is called bad at most as often as said', async t => {
  const [early, last] = [false, true].map(isFinal => judged({}, {}, { isFinal, alpha: 0.02 }).limit)
  t.ok(Math.abs(10 * (3600 * early + last) - 0.02) < 1e-12)
})

t.test('values are shown with their units', async t => {
  const shown = (/** @type {Figure['unit']} */ unit, /** @type {number | null} */ value) => valueOf(/** @type {any} */ ({ unit, fresh: value }), 'fresh')
  t.same([shown('count', 1234), shown('share', 0.02104), shown('ms', 1234.5), shown('ms', 0.1234), shown('bytes a request', -2048), shown('bytes a request', 10.4), shown('ms', null)],
    ['1,234', '2.10 %', '1,235 ms', '0.12 ms', '-2 KiB', '10 B', '–'])
})

const random = fc.record({
  requests: fc.integer({ min: 0, max: 60 }),
  connections: fc.integer({ min: 1, max: 12 }),
  blocks: fc.integer({ min: 0, max: 14 }),
  errors: fc.constantFrom(0, 0, 0, 0.1, 0.5),
  unfinished: fc.constantFrom(0, 0, 0.05, 0.3),
  refusals: fc.constantFrom(0, 0.05, 0.4),
  slower: fc.constantFrom(1, 1.1, 1.5),
  busyMs: fc.constantFrom(1, 1.3, 2),
  kept: fc.constantFrom(0, 500, 5000),
  crashes: fc.nat({ max: 5 }),
  exceptions: fc.nat({ max: 5 })
}).map(({ errors, refusals, ...rest }) => ({
  ...rest, status: (/** @type {{ draw: number }} */ { draw }) => draw < errors ? 500 : draw > 1 - refusals ? 404 : 200
}))
const sound = random.map(({ requests, connections, blocks }) => ({ requests, connections, blocks: blocks + 10 }))
const bakes = (/** @type {fc.Arbitrary<NonNullable<Parameters<typeof worker>[1]>>} */ old) =>
  fc.record({ old: fc.array(old, { maxLength: 4 }), fresh: fc.array(random, { maxLength: 3 }), isFinal: fc.boolean() })
    .map(({ old, fresh, isFinal }) => ({
      old: old.map((how, i) => worker(i, how)), fresh: fresh.map((how, i) => worker(10 + i, how)), isFinal
    }))

t.test('the order of workers, and a way through JSON, change nothing', async t => {
  fc.assert(fc.property(bakes(random), ({ old, fresh, isFinal }) => {
    const verdict = judge({ old, fresh, isFinal })
    t.same(judge({ old: old.toReversed(), fresh: fresh.toReversed(), isFinal }), verdict)
    t.same(judge(JSON.parse(JSON.stringify({ old, fresh, isFinal }))), verdict)
    t.same(JSON.parse(JSON.stringify(verdict)), verdict)
    t.equal(typeof sentenceOf(verdict), 'string')
  }), { seed: 55, numRuns: 30 })
})

/** What makes workers worse, all alike. @type {((windows: Window[]) => void)[]} */
const WORSE = [
  windows => { for (const window of windows) window.crashes++ },
  windows => { for (const window of windows) window.exceptions += 2 },
  windows => {
    for (const window of windows) window.busyMs *= 1.5
    for (const block of windows.flatMap(({ blocks }) => blocks)) block.busyMs *= 1.5
  },
  ...RESPONSES.map(kind => (/** @type {Window[]} */ windows) => {
    const blocks = windows.flatMap(({ blocks }) => blocks)
    const times = Math.min(2, ...blocks.filter(block => block[kind] > 0).map(block => block.requests / block[kind]))
    for (const { of, ofSquares, ofProducts } of windows) {
      of[kind] *= times
      ofSquares[kind] *= times ** 2
      ofProducts[kind] *= times
    }
    for (const block of blocks) block[kind] *= times
  })
]

t.test('worse data never turn bad into good', async t => {
  let bad = 0
  fc.assert(fc.property(bakes(sound), fc.constantFrom(...WORSE), ({ old, fresh }, worsen) => {
    if (judge({ old, fresh, isFinal: true }).verdict !== 'bad') return true
    bad++
    const worse = structuredClone(fresh)
    worsen(worse)
    return judge({ old, fresh: worse, isFinal: true }).verdict === 'bad'
  }), { seed: 56, numRuns: 150 })
  t.ok(bad > 20, String(bad))
})
