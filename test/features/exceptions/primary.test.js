'use strict'

const { Heard } = require('../../support/heard')
const t = require('tap')
const { Exceptions } = require('../../../lib/features/exceptions/primary')

const STACK = 'Error: it\n    at f (/a.js:1:1)'

/** @param {Record<string, any>} [options] */
function primary (options = {}) {
  const kernel = {
    at: 0,
    options: { sticky: null, ...options },
    now: () => kernel.at,
    features: { get hasSessions () { return kernel.options.sticky !== null } },
    /** @type {any[]} */
    lines: [],
    record: (/** @type {string} */ event, /** @type {any} */ fields) => kernel.lines.push({ event, ...fields }),
    /** @type {any[]} */
    calls: [],
    rotation: { wish: (/** @type {any} */ { slot }, /** @type {string} */ by, /** @type {string} */ why) => kernel.calls.push(['wish', slot, by, why]) },
    sampler: { replace: (/** @type {any} */ { slot }, /** @type {string} */ reason) => kernel.calls.push(['replace', slot, reason]) },
    crashWatch: { threw: (/** @type {{ slot: number }} */ { slot }, /** @type {string} */ how, /** @type {string | null} */ request) => kernel.calls.push(['crashed', slot, how, request]) },
    spawner: { print: (/** @type {string} */ text) => kernel.calls.push(['print', text]) }
  }
  const part = /** @type {any} */ (new Exceptions(/** @type {any} */ (kernel)))
  const handle = /** @type {any} */ (Object.assign(new Heard(), { slot: 2, pid: 22, generation: 1, isServing: true }))
  part.connect(handle)
  const throws = (/** @type {Record<string, any>} */ about = {}) => handle.say('uncaught', { name: 'Error', message: 'it', stack: STACK, request: 'GET /', isAnswered: true, listener: null, isEnding: true, ...about })
  return { kernel, part, handle, throws }
}

t.test('a worker whose app has not caught an exception leaves the rotation, and is replaced', async t => {
  const { kernel, part, throws } = primary()
  throws()
  t.same(kernel.lines, [{ event: 'worker.exception', slot: 2, pid: 22, name: 'Error', message: 'it', stack: STACK, request: 'GET /', isAnswered: true, seen: 1 }])
  t.same(kernel.calls, [['crashed', 2, 'Error: it', 'GET /'], ['wish', 2, 'exceptions', 'its app has not caught Error'], ['replace', 2, 'exception']])
  t.same(part.describe(), { count: 1, kinds: [{ name: 'Error', message: 'it', request: 'GET /', count: 1 }] })
})

t.test('an exception that a listener of the app has is told, with the listener; the worker is replaced when that ends it', async t => {
  const { kernel, throws } = primary()
  throws({ listener: 'onError', isEnding: false })
  t.match(kernel.lines, [{ listener: 'onError', isEnding: false }])
  t.same(kernel.calls, [])
  throws({ listener: 'onError', isEnding: true })
  t.match(kernel.lines[1], { listener: 'onError', isEnding: true })
  t.match(kernel.calls.at(-1), ['replace', 2, 'exception'])
})

t.test('one that leaves already is only counted; with --sticky a worker stays with its sessions until it drains', async t => {
  const leaving = primary()
  leaving.handle.isServing = false
  leaving.throws()
  t.same(leaving.kernel.calls.map(([what]) => what), ['crashed'])
  const sticky = primary({ sticky: { by: 'cookie' } })
  sticky.throws()
  t.same(sticky.kernel.calls.map(([what]) => what), ['crashed', 'replace'])
})

t.test('a kind has a line each time at first, then one a second, each with the count', async t => {
  const { kernel, throws } = primary()
  for (kernel.at = 0; kernel.at < 3000; kernel.at += 100) throws()
  t.same(kernel.lines.map(({ seen }) => seen), [1, 2, 3, 13, 23])
  throws({ name: 'TypeError' })
  t.equal(kernel.lines.at(-1).seen, 1, 'another kind has lines of its own')
})

t.test('the lines of kinds beyond 200 are limited like those of one, and say what it was', async t => {
  const { kernel, part, throws } = primary()
  for (let i = 0; i < 1000; i++) throws({ name: `E${i}`, message: 'm'.repeat(200) })
  t.equal(kernel.lines.length, 203)
  t.match(kernel.lines.slice(-1), [{ name: 'others', message: /^E202: m{194}$/, seen: 3 }])
  t.match(part.describe(), { count: 1000, kinds: [{ name: 'others', count: 800 }] })
})

t.test('what ends workers of one generation at their start is printed once in ten seconds', async t => {
  const { kernel, handle } = primary()
  const dies = (/** @type {string} */ trace) => handle.say('fatal', { trace })
  for (kernel.at of [0, 5000, 9999]) dies('a')
  dies('b')
  handle.generation = 2
  dies('a')
  t.same(kernel.calls, [['print', 'a'], ['print', 'b'], ['print', 'a']])
  handle.generation = 1
  kernel.at = 10_000
  dies('a')
  t.equal(kernel.calls.length, 4)
})
