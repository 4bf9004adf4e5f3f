'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { RecycleError, CATALOGUE } = require('../../lib/core/errors')

const LIB = path.join(__dirname, '..', '..', 'lib')

// A field of every name that any sentence asks for.
/** @type {Record<string, string>} */
const DETAILS = {}
const asking = new Proxy({}, { get: (_, name) => (DETAILS[String(name)] = `<${String(name)}>`) })
for (const { sentence } of Object.values(CATALOGUE)) sentence(asking)

for (const [code, { exitCode }] of Object.entries(CATALOGUE)) {
  t.test(`${code} has a sentence and an exit code`, async t => {
    t.match(code, /^RECYCLE_[A-Z_]+$/)
    t.ok(exitCode === 1 || exitCode === 2)
    const error = new RecycleError(code, DETAILS)
    t.match(error, { name: 'RecycleError', code, exitCode, details: DETAILS })
    t.ok(error instanceof Error)
    t.notMatch(error.message, /undefined|\n|\.$/, 'one sentence')
    t.ok(error.message.length > 10 || code === 'RECYCLE_BAD_USAGE')
  })
}

t.test('every code that lib/ throws is in the catalogue', async t => {
  const files = fs.readdirSync(LIB, { recursive: true }).filter(file => String(file).endsWith('.js'))
  const thrown = files.flatMap(file => [...fs.readFileSync(path.join(LIB, String(file)), 'utf8').matchAll(/new RecycleError\('(\w+)'/g)].map(match => match[1]))
  t.ok(thrown.length > 10)
  t.same(thrown.filter(code => !Object.hasOwn(CATALOGUE, code)), [])
})

t.test('text is shown in quotes, other values as they are', async t => {
  t.match(new RecycleError('RECYCLE_BAD_OPTION', { option: 'x', given: 'a b', accepts: 'y' }).message, 'x was given "a b"; it takes y')
  t.match(new RecycleError('RECYCLE_BAD_OPTION', { option: 'x', given: 5, accepts: 'y' }).message, 'x was given 5; it takes y')
})

t.test('the catalogue does not change', async t => {
  t.ok(Object.isFrozen(CATALOGUE))
})

t.test('a given value is shown whatever its type, in at most two lines', async t => {
  const said = (/** @type {unknown} */ given) => new RecycleError('RECYCLE_BAD_OPTION', { option: 'workers', given, accepts: 'a number' }).message
  const circular = /** @type {any} */ ({})
  circular.self = circular
  for (const [given, shown] of /** @type {[unknown, string][]} */ ([
    ['two\n', '"two\\n"'], [5, '5'], [NaN, 'NaN'], [null, 'null'], [undefined, 'undefined'], [[1, 'a'], '[1,"a"]'], [{ toString: 1 }, '{"toString":1}'],
    [circular, 'an object'], [{ toJSON () { throw new Error('no') } }, 'an object'], [Symbol('s'), 'Symbol(s)'], [10n, '10'], [Object.create(null), '{}']
  ])) t.equal(said(given), `workers was given ${shown}; it takes a number`)
  const long = 'x'.repeat(5000)
  for (const given of [long, [long], { long }, () => `${long}`]) t.ok(said(given).length < 300)
  t.match(said(`begin${long}end`), /"beginx+…x+end"/)
  for (const code of Object.keys(CATALOGUE)) {
    const details = Object.fromEntries(Object.keys(DETAILS).map(name => [name, long]))
    t.ok(new RecycleError(code, details).message.length < 3000, code)
    t.equal(new RecycleError(code, details).details.file, long, 'the details are not shortened')
  }
})

const sentence = (/** @type {string} */ code, /** @type {Record<string, any>} */ details) =>
  new RecycleError(code, details).message

t.test('exit code 2 is for what the user can correct, 1 for a run that failed', async t => {
  const corrected = ['RECYCLE_BAD_OPTION', 'RECYCLE_BAD_USAGE', 'RECYCLE_NO_APP', 'RECYCLE_JOURNAL', 'RECYCLE_CONTROL_TAKEN', 'RECYCLE_NO_FLEET']
  const failed = ['RECYCLE_APP_DIES', 'RECYCLE_FLEET_GONE', 'RECYCLE_NOT_UPGRADED', 'RECYCLE_PRIMARY_FAILED']
  t.same(corrected.map(code => new RecycleError(code, DETAILS).exitCode), corrected.map(() => 2))
  t.same(failed.map(code => new RecycleError(code, DETAILS).exitCode), failed.map(() => 1))
})

t.test('a fleet that does not start is told from one that does not stay up', async t => {
  t.equal(sentence('RECYCLE_APP_DIES', { wasReady: false, deaths: 5, how: 'exit code 1' }), 'no worker becomes ready: 5 died or gave up in a row, the last one exit code 1')
  t.equal(sentence('RECYCLE_APP_DIES', { wasReady: true, deaths: 5, how: 'SIGSEGV' }), 'no worker stays up: 5 died as soon as they were ready, the last one SIGSEGV')
})

t.test('of the fleet that has the control socket the pid is named, where it answers', async t => {
  t.equal(sentence('RECYCLE_CONTROL_TAKEN', { path: '/s', pid: 7, remedy: 'a --name' }), 'the control socket /s belongs to a running fleet, pid 7: recycle reload has it run new code; or give this one a --name')
  t.equal(sentence('RECYCLE_CONTROL_TAKEN', { path: '/s', remedy: 'a --name' }), 'the control socket /s belongs to a running fleet that does not answer; give this one a --name')
})

t.test('where no fleet is found: which one was asked for, which are running, where they were looked for, what was ignored', async t => {
  const none = 'no fleet is running, as far as /run tells; one of another user or of a service with a folder of its own is found by --control <path> or RECYCLE_CONTROL_DIR'
  t.equal(sentence('RECYCLE_NO_FLEET', { folders: '/run' }), none)
  t.equal(sentence('RECYCLE_NO_FLEET', { name: 'shop', folders: '/run', distrusted: '/tmp/x' }), `there is no fleet named "shop"; ${none}; ignored: /tmp/x`)
  t.equal(sentence('RECYCLE_NO_FLEET', { name: 'shop', running: 'till', folders: '/run' }), 'there is no fleet named "shop"; running: till')
})

t.test("a reason is shown up to 1,000 characters, the user's words up to 200", async t => {
  const why = (/** @type {number} */ chars) => sentence('RECYCLE_NO_APP', { app: 'a.js', why: 'x'.repeat(chars) })
  t.match(why(1000), 'x'.repeat(1000))
  t.match(why(1001), '…')
  const app = (/** @type {number} */ chars) => sentence('RECYCLE_NO_APP', { app: 'x'.repeat(chars), why: 'y' })
  t.match(app(200), 'x'.repeat(200))
  t.match(app(201), '…')
})
