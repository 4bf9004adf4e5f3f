'use strict'

const { BENCH } = require('../support/bench')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { excerpt, fillIn, blocksOf } = require('../../bench/excerpts')
const { groupName } = require('../../bench/support/gc-profiles')

const columns = [{ key: 'rps', title: 'requests/s' }]

/**
 * A results file with one group.
 *
 * @param {number} node
 * @param {string} group
 * @param {Record<string, Record<string, number>[]>} subjects their rounds
 * @param {string[]} [beside]
 */
function fileOf (node, group, subjects, beside = ['default']) {
  return { machine: { node: `v${node}.1.0`, cpu: 'Xeon' }, columns, groups: [{ name: group, beside, subjects: Object.entries(subjects).map(([name, rounds]) => ({ name, rounds })) }] }
}

/** Reads these result files only. @param {Record<string, any[]>} files by bench */
function reading (files) {
  return (/** @type {string} */ bench) => files[bench] ?? []
}

/** The cells of the row that begins so. @param {string} table @param {string} start */
function row (table, start) {
  return table.split('\n').find(line => line.startsWith(`| ${start}`))?.split('|').map(cell => cell.trim()).slice(1, -1)
}

const rounds = (/** @type {string} */ key, /** @type {number[]} */ ...values) => values.map(value => ({ [key]: value }))

t.test('a cell is the median of the ratios within rounds, not the ratio of medians', t => {
  const group = groupName({ app: 'cache', workers: 1, connections: 50, load: 'saturation' })
  const read = reading({ 'gc-raw': [fileOf(22, group, { default: rounds('rps', 100, 200, 400), 'huge-heap': rounds('rps', 200, 220, 200) })] })
  t.same(row(excerpt('gc: nodes', read), 'Node 22')?.slice(1), ['–', '–', '1.10 × (0.50–2.00)', '–', '–', '–'])
  t.same(row(excerpt('gc: nodes', read), 'Node 24')?.slice(1), ['–', '–', '–', '–', '–', '–'], 'a missing figure is a dash')
  t.end()
})

t.test('gc: huge-heap has both loads and both fleets of an app in one row; gc: profiles both profiles', t => {
  const groups = [{ workers: 5, load: 'saturation', key: 'rps' }, { workers: 1, load: 'rate', key: 'p99' }].map(({ key, ...place }) =>
    fileOf(20, groupName({ app: 'objects', connections: 50, ...place }), { default: rounds(key, 100), 'huge-heap': rounds(key, 150), 'no-mark-sweep': rounds(key, 50) }).groups[0])
  const read = reading({ 'gc-raw': [{ ...fileOf(20, '', {}), groups }] })
  t.same(row(excerpt('gc: huge-heap', read), '2 million'), ['2 million live objects', '–', '1.50 ×', '1.50 ×', '–', '– and –'])
  t.same(row(excerpt('gc: profiles', read), '2 million'), ['2 million live objects', '–', '1.50 ×', '–', '0.50 ×', '–'])
  t.end()
})

t.test('gc: generators takes each ratio within one generator, and then one generator beside the other', t => {
  const group = groupName({ app: 'garbage', workers: 1, connections: 50, load: 'saturation' })
  const read = reading({
    'gc-generators': [fileOf(20, group, {
      'default, by autocannon': rounds('rps', 100, 100),
      'default, by raw': rounds('rps', 200, 400),
      'huge-heap, by autocannon': rounds('rps', 150, 110),
      'huge-heap, by raw': rounds('rps', 300, 400)
    }, [])]
  })
  t.same(row(excerpt('gc: generators', read), '`default`'), ['`default`', '100', '1', '300', '1', '0.38 × (0.25–0.50)'])
  t.same(row(excerpt('gc: generators', read), '`huge-heap`'), ['`huge-heap`', '130', '1.30 × (1.10–1.50)', '350', '1.25 × (1.00–1.50)', '0.39 × (0.28–0.50)'])
  t.end()
})

t.test('gc: sum counts every round of the raw generator, which counts drops', t => {
  const figures = { requests: 600_000, recycles: 3, collects: 1, dropped: 0, refused: 1 }
  const read = reading({ 'gc-raw': [fileOf(20, 'a', { default: [figures, figures], collect: [figures] }), fileOf(24, 'a', { default: [{ ...figures, dropped: 2 }] })], gc: [fileOf(20, 'a', { default: [figures] })] })
  t.equal(excerpt('gc: sum', read), '6 requests were dropped or not let in, in 4 measurements (3 on Node 20, 1 on Node 24), of 2.4 million requests over 12 recycles and 4 collections')
  t.end()
})

t.test('drops: compare puts direct clients and those of nginx side by side, and leaves out missing figures', t => {
  const figures = (/** @type {number} */ dropped, /** @type {number} */ recycles) => ({
    requests: 1000, dropped, recycles, badGateway: dropped - 1, otherErrors: 1
  })
  const read = reading({
    drops: [fileOf(20, 'keep-alive', { recycle: [figures(0, 3), figures(0, 4)], pm2: [figures(1200, 7)] }, [])],
    proxy: [fileOf(20, 'behind nginx, rolling reloads', { 'recycle-reload': [figures(0, 9)], 'pm2-reload': [figures(40, 9)] }, [])]
  })
  const table = excerpt('drops: compare', read)
  t.same(row(table, '**recycle**'), ['**recycle**', '0 / 7', '–', '0 / 9'])
  t.same(row(table, 'pm2,')?.slice(1), ['1,200 / 7', '–', '–'])
  t.same(row(table, '`pm2 reload`')?.slice(1), ['–', '–', '40 / 9'])
  t.match(excerpt('drops: nginx', read), '`pm2 reload`, again and again: 39 × 502 and 1 other errors of 1,000 requests, 9 workers replaced')
  t.end()
})

t.test('a single figure is named by bench, group, subject, and key', t => {
  const subjects = { bare: rounds('rps', 100, 200), mine: rounds('rps', 110, 240) }
  const read = reading({ try: [fileOf(20, 'a, b', subjects, ['bare']), fileOf(24, 'a, b', { ...subjects, mine: rounds('rps', 50, 50) }, ['bare'])] })
  t.equal(excerpt('try; a, b; mine; ratio rps', read), '1.15 × (1.10–1.20)')
  t.equal(excerpt('try; a, b; mine; briefly rps', read), '1.15 ×')
  t.equal(excerpt('try; a, b; mine; median rps 1', read), '175.0')
  t.equal(excerpt('try; a, b; mine; total rps; node 24', read), '100')
  t.equal(excerpt('try; a, b; none; ratio rps', read), '–')
  t.throws(() => excerpt('try; a, b; mine; mean rps', read), { message: /^a figure is ratio, .*; it is "mean" in / })
  t.end()
})

t.test('blocks of a page are rewritten, in a line and around a table, and other text stays', t => {
  const read = reading({ try: [fileOf(20, 'g', { mine: rounds('rps', 7) })] })
  const page = 'It is <!-- try; g; mine; median rps -->6<!-- /try --> a second.\n<!-- options -->\n| a |\n<!-- /options -->\n<!-- pauses: cost -->\nold\n<!-- /pauses -->\nend\n'
  const after = fillIn(page, read)
  t.match(after, 'It is <!-- try; g; mine; median rps -->7<!-- /try --> a second.\n<!-- options -->\n| a |\n<!-- /options -->\n<!-- pauses: cost -->\n| CPU')
  t.match(after, /\|\n<!-- \/pauses -->\nend\n$/)
  t.same(blocksOf(after).map(({ expression }) => expression), ['try; g; mine; median rps', 'pauses: cost'])
  t.equal(fillIn(after, read), after)
  t.end()
})

t.test('every excerpt works without results, and an unknown one is refused with a list of the known ones', t => {
  let names = ''
  try {
    excerpt('gc: latncy', () => [])
  } catch (error) {
    names = /** @type {Error} */ (error).message
  }
  t.match(names, /^there is no excerpt "gc: latncy"; there are boot: first-byte, .*gc: huge-heap, /)
  const all = names.split('there are ')[1].split(', ')
  t.ok(all.length >= 10)
  for (const name of all) t.notMatch(excerpt(name, () => []), /NaN|undefined|Infinity/, name)
  const template = fs.readFileSync(path.join(BENCH, 'results', 'TEMPLATE.md'), 'utf8')
  const used = [...template.matchAll(/\{\{([a-z]+: [a-z-]+)\}\}/g)].map(([, name]) => name).filter(name => !/^(plot|machine): /.test(name))
  t.same(used.filter(name => !all.includes(name)), [])
  t.end()
})
