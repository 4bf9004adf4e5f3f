'use strict'

const { BENCH } = require('../support/bench')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { excerpt } = require('../../bench/support/excerpts')
const { groupName } = require('../../bench/support/gc-profiles')

/**
 * A results file with one group.
 *
 * @param {number} node
 * @param {{ app: string, workers: number, connections: number, load: string }} place
 * @param {Record<string, Record<string, number>[]>} profiles their rounds
 * @param {string} [cpu]
 */
function fileOf (node, place, profiles, cpu = 'Xeon') {
  const subjects = Object.entries(profiles).map(([name, rounds]) => ({ name, rounds }))
  return { machine: { node: `v${node}.1.0`, cpu }, groups: [{ name: groupName(place), beside: ['default'], subjects }] }
}

/** The cells of the row that begins so. @param {string} table @param {string} start */
function row (table, start) {
  return table.split('\n').find(line => line.startsWith(`| ${start}`))?.split('|').map(cell => cell.trim()).slice(1, -1)
}

const rounds = (/** @type {string} */ key, /** @type {number[]} */ ...values) => values.map(value => ({ [key]: value }))

t.test('a cell is the median of the ratios within rounds, not the ratio of medians', t => {
  const place = { app: 'cache', workers: 1, connections: 50, load: 'saturation' }
  const table = excerpt('nodes-throughput', [fileOf(22, place, { default: rounds('rps', 100, 200, 400), 'huge-heap': rounds('rps', 200, 220, 200) })])
  t.same(row(table, 'Node 22 | `huge-heap` '), ['Node 22', '`huge-heap`', '1.10 × (0.50–2.00)', '–', '–', '–'])
  t.same(row(table, 'Node 24 | `huge-heap` ')?.slice(2), ['–', '–', '–', '–'], 'what was not measured is said to be so')
  t.end()
})

t.test('by Node: beside the ratios, the collections that there were to avoid and the recycles in place of them', t => {
  const place = { app: 'objects', workers: 5, connections: 50, load: 'rate' }
  const table = excerpt('nodes-latency', [fileOf(24, place, {
    default: rounds('markSweeps', 0, 2, 1),
    'huge-heap': [...rounds('markSweeps', 7, 7, 7), ...rounds('recycles', 8)],
    'huge-heap+budget': rounds('recycles', 3, 3, 3)
  })])
  t.same(row(table, 'Node 24 | `default`')?.slice(1), ['`default`: mark-sweeps', '–', '–', '–', '0–2'])
  t.same(row(table, 'Node 24 | … recycles')?.slice(2), ['–', '–', '–', '3'], 'of the profile with a budget')
  t.end()
})

t.test('by profile: the range of default, ratios of the others, CPU without its spread', t => {
  const figures = (/** @type {number} */ p99, /** @type {number} */ cpuS) => ({ p99, cpuS, markSweeps: p99 / 10, recycles: cpuS })
  const files = [fileOf(20, { app: 'objects', workers: 5, connections: 50, load: 'rate' }, {
    default: [figures(20, 1), figures(1000, 2)],
    'huge-heap+budget': [figures(10, 2), figures(100, 2)],
    'no-mark-sweep': [figures(60, 1)],
    collect: [figures(30, 1)]
  })]
  const table = excerpt('latency', files)
  t.equal(row(table, 'default')?.[4], '20–1,000')
  t.equal(row(table, '… its mark-sweeps')?.[4], '2–100')
  t.equal(row(table, '`huge-heap+budget`')?.[4], '0.30 × (0.10–0.50)')
  t.equal(row(table, '`no-mark-sweep`')?.[4], '3.00 ×')
  t.equal(row(table, '… CPU')?.[4], '1.50 ×')
  t.equal(row(table, '… recycles')?.[4], '2')
  t.equal(row(table, '`collect`')?.[4], '1.50 ×', 'one round has no spread')
  for (const other of ['latency-few', 'latency-rest']) t.notMatch(excerpt(other, files), '20–1,000', 'those are of other groups')
  t.end()
})

t.test('at a glance: both loads and both fleets of an app in one row', t => {
  const [busy, paced] = [{ app: 'objects', workers: 5, connections: 50, load: 'saturation' }, { app: 'objects', workers: 1, connections: 50, load: 'rate' }]
  const ratios = (/** @type {string} */ key) => ({ default: rounds(key, 100), 'huge-heap': rounds(key, 150) })
  const [{ groups, ...file }, other] = [fileOf(20, busy, ratios('rps')), fileOf(20, paced, ratios('p99'))]
  const table = excerpt('huge-heap', [{ ...file, groups: [...groups, ...other.groups] }])
  t.same(row(table, '2 million'), ['2 million live objects', '–', '1.50 ×', '1.50 ×', '–', '– and –'])
  t.same(row(table, 'a leak')?.slice(1, 3), ['–', '–'], 'what was not measured is said to be so')
  t.end()
})

t.test('of a group that was measured on two machines: each table has its own', t => {
  const place = { app: 'garbage', workers: 1, connections: 50, load: 'saturation' }
  const [slow, fast] = [['Xeon', 1234], ['AMD EPYC', 4000]].map(([cpu, rps]) => fileOf(20, place, { default: rounds('rps', Number(rps)), 'huge-heap': rounds('rps', 2 * Number(rps)) }, String(cpu)))
  const files = [{ ...slow, groups: [slow.groups[0], { ...fast.groups[0], machine: fast.machine }] }]
  t.equal(row(excerpt('published-slower', files), 'Node 20 | `default`')?.[2], '1,234 /s')
  t.equal(row(excerpt('published-faster', files), 'Node 20 | `default`')?.[2], '4,000 /s')
  t.equal(row(excerpt('published-faster', files), 'Node 20 | `huge-heap` ')?.[2], '2.00 ×')
  t.end()
})

t.test('the sum counts every round of every file, and what was lost', t => {
  const place = { app: 'leak', workers: 1, connections: 4, load: 'saturation' }
  const figures = { requests: 600_000, recycles: 3, collects: 1, dropped: 0, refused: 1 }
  const files = [fileOf(20, place, { default: [figures, figures], collect: [figures] }), fileOf(24, place, { default: [{ ...figures, dropped: 2 }] })]
  t.equal(excerpt('sum', files), '6 requests were dropped or not let in, in 4 measurements (3 on Node 20, 1 on Node 24), of 2.4 million requests over 12 recycles and 4 collections')
  t.end()
})

t.test('every excerpt of the template is there, and one that is not is named', t => {
  const template = fs.readFileSync(path.join(BENCH, 'results', 'TEMPLATE.md'), 'utf8')
  const names = [...template.matchAll(/\{\{gc: ([a-z-]+)\}\}/g)].map(([, name]) => name)
  t.ok(names.length > 5)
  for (const name of names) t.notMatch(excerpt(name, []), /NaN|undefined|Infinity/)
  t.throws(() => excerpt('latncy', []), { message: /^there is no excerpt "latncy"; there are sum, huge-heap, / })
  t.end()
})
