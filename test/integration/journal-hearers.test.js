'use strict'

/**
 * Every event of the page on the journal, with the fields that it has there, goes to everything that hears the journal:
 * each of them counts it once or not at all.
 */

const t = require('tap')
const { SUCCESSION } = require('../../lib/features')
const { ServiceNotifier } = require('../../lib/features/systemd/notifier')
const { ServiceState } = require('../../lib/features/systemd/state')
const { levelOf, prettyLine, sentence } = require('../../lib/journal/sentence')
const { FleetReadiness } = require('../../lib/operate/admin/fleet-readiness')
const { Metrics } = require('../../lib/operate/admin/metrics')
const { Picture } = require('../../lib/operate/admin/picture')
const { Audit } = require('../../lib/journal/audit')
const { page, rows } = require('../support/docs')
const { startFleet } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')
const { skip, startListener } = require('../support/service-manager')

const T0 = 1_700_000_000_000
const PID = 4000
const COUNT = 3000 // of whatever a field is a number of

const PAGE = page('docs/journal.md').text
const table = (/** @type {string} */ head) => rows(PAGE.slice(PAGE.indexOf(head)).split('\n\n')[0])
const words = (/** @type {string} */ text) => [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code.split(' ')).filter(word => /^[a-z]\w*$/i.test(word))
const names = (/** @type {string} */ cell) => cell.split(', ').map(name => name.replaceAll('`', ''))

/** Of the table below this head. @param {string} head @param {number} slot @returns {Record<string, any>[]} */
function linesOf (head, slot) {
  return table(head).flatMap(([events, ...cells]) => names(events).map(event => ({
    ...Object.fromEntries(words(cells.join(' ')).map(name => [name, COUNT])), v: 1, t: T0, event, slot, pid: PID
  })))
}

/** @type {Record<string, any>[]} */
const LINES = [
  ...linesOf('| event | when | fields |', 0).map(line => ({ ...line, oldPid: PID, requests: COUNT, rssBytes: COUNT, reason: 'requested', drainMs: 1, tookMs: 1, answered: 0, cuts: [] })),
  ...linesOf('| event | fields |', 0).map(({ slot, pid, ...line }) => ({ ...line, requests: COUNT, reason: 'requested' })),
  ...table('| `warning` | meaning |').flatMap(([warnings, meaning]) => names(warnings).map(warning => ({
    ...Object.fromEntries(words(meaning).map(name => [name, COUNT])), v: 1, t: T0, event: 'fleet.warning', warning, requests: COUNT
  })))
]
const nameOf = (/** @type {Record<string, any>} */ { event, warning = '' }) => `${event} ${warning}`.trim()
/** Says how many requests its worker has begun so far. @param {Record<string, any>} line */
const isOfRequests = ({ event }) => ['worker.sample', 'worker.retire', 'worker.crash'].includes(event)

const STATUS = { workers: [], totals: { workers: 1, ready: 1, moves: {} }, memory: null, memoryByRoute: null }

t.test('the page has events of workers and of the fleet, and warnings', async t => {
  t.ok(LINES.length > 90, String(LINES.length))
  t.ok(LINES.some(({ warning }) => warning === 'sticky-none') && LINES.some(isOfRequests))
})

t.test('the live page counts the requests of a worker once, and no other figure of that name', async t => {
  const wrong = LINES.filter(line => {
    const picture = new Picture()
    for (const each of line.event === 'worker.sample' ? [line, line] : [line]) picture.hear(each)
    picture.look(T0, STATUS, 1000)
    const { traffic: [{ perSecond }], about } = picture.whole(T0 + 1, STATUS)
    return perSecond !== (isOfRequests(line) ? COUNT : 0) ||
      about.recycles + about.crashes !== (['recycled', 'worker.crash'].includes(line.event) ? 1 : 0)
  })
  t.same(wrong.map(nameOf), [])
})

t.test('the audit has each end of a worker, crash and sample once, and no other event', async t => {
  const known = new Set(LINES.map(({ event }) => event))
  const names = Object.keys(new Audit().handlers)
  t.same(names.filter(event => !known.has(event)), [])
  const wrong = LINES.filter(line => {
    let [spans, samples] = [0, 0]
    const audit = new Audit({ addSpan: () => spans++, addMemory: () => samples++ })
    audit.handlers[line.event]?.(line)
    audit.finish()
    const { events, recycles, byReason, crashes, crashEvents, oomKills, connectionsAtCrashes, totals } = audit
    const is = (/** @type {string[]} */ ...names) => Number(names.includes(line.event))
    const ends = is('recycled', 'scaled', 'stopped')
    const drains = ends + is('worker.drain') // without its end it is an unfinished one
    const pairs = [
      [spans, drains], [events.items.length, drains], [samples, is('worker.sample')],
      [recycles, is('recycled')], [byReason.get('requested') ?? 0, is('recycled')],
      [crashes, is('worker.crash')], [crashEvents.items.length, is('worker.crash')],
      [connectionsAtCrashes, COUNT * is('worker.crash')], [oomKills, 0],
      ...Object.entries(totals).map(([name, total]) => [total, ends * (line[name] ?? 0)])
    ]
    return pairs.some(([counted, expected]) => counted !== expected)
  })
  t.same(wrong.map(nameOf), [])
})

t.test('each metric grows by one, by a figure of the line, or not at all', async t => {
  const metrics = new Metrics()
  const counters = async () => new Map([...(await metrics.render(STATUS)).matchAll(/^(recycle_\w+_(?:total|count)(?:\{[^\n]*\})?) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]))
  /** @type {string[]} */
  const wrong = []
  let before = await counters()
  for (const [i, line] of LINES.entries()) {
    metrics.hear({ ...line, ...line.pid && { pid: PID + i } })
    const after = await counters()
    const grown = [...after].map(([name, value]) => ({ name, by: value - (before.get(name) ?? 0) }))
      .filter(({ by }) => by !== 0)
    before = after
    const counts = grown.some(({ name }) => name.startsWith('recycle_worker_requests_total'))
    if (grown.some(({ by }) => by !== 1 && by !== COUNT) || counts !== isOfRequests(line)) wrong.push(nameOf(line))
  }
  t.same(wrong, [])
})

t.test('each has a sentence in one line, and a level', async t => {
  t.same(LINES.filter(line => [sentence(line), prettyLine(line)].some(text => !/^[^\n]+$/.test(text)) || !['debug', 'info', 'warn', 'error'].includes(levelOf(line))).map(nameOf), [])
})

t.test('the service manager is told what follows from each, also of samples while new code is compared', { skip }, async t => {
  const { supervisor } = await startFleet(t, 'plain.js', { workers: 1, interval: '1h' })
  const { notifySocket, heard } = await startListener(t)
  const { leads } = SUCCESSION.events
  const by = { readiness: () => new FleetReadiness(supervisor), leads }
  const notifier = new ServiceNotifier(supervisor, { notifySocket, watchdogMs: null }, by)
  t.teardown(() => notifier.leave())
  const state = new ServiceState(supervisor.options, leads)
  const told = []
  const trial = [{ event: 'worker.ready' }, { event: 'fleet.trial', generation: 1 }, { event: 'worker.sample' }]
  for (const line of [...trial, ...LINES.filter(({ event, warning }) => event !== 'fleet.stopping' && warning !== 'primary-failed')]) {
    const message = state.hear(line, () => true, 0)
    if (Object.keys(message).length > 0) told.push({ line, message })
    supervisor.emit('event', line)
    await notifier.close() // all is told
  }
  t.match(told[2], { line: { event: 'worker.sample' }, message: { EXTEND_TIMEOUT_USEC: Number } }, 'a sample extends the time of a trial')
  /** @param {Record<string, any>} message */
  const shown = ({ event, STATUS, MONOTONIC_USEC, ...message }) =>
    Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]))
  const all = () => heard.lines.map(shown).filter(message => Object.keys(message).length > 0)
  await becomesTrue(() => all().length >= told.length)
  t.same(all(), told.map(({ message }) => shown(message)))
})
