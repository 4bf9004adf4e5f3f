'use strict'

require('../support/bare-children')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { helpOf } = require('../../bench/support/help')
const { Bench } = require('../../bench/support/rounds')
const { resultTables, judge, besideOf } = require('../../bench/support/results')
const { alignTable, markdownTable } = require('../../bench/support/table')
const { percentiles, within } = require('../../bench/support/statistics')
const { Usage, usedBy } = require('../../bench/support/usage')
const { spawn } = require('node:child_process')
const { once } = require('node:events')

const columns = [{ key: 'rps', title: 'requests/s', ratio: true }, { key: 'dropped', title: 'dropped', total: true }]

/** A bench whose subjects only record their calls. @param {any} t @param {string[]} flags */
function tryBench (t, flags) {
  const out = path.join(t.testdir(), 'results', 'try.json')
  /** @type {string[]} */
  const calls = []
  const subject = (/** @type {string} */ name, /** @type {number} */ rps) =>
    async (/** @type {{ round: number }} */ { round }) => {
      calls.push(`${name}${round}`)
      return { rps: rps * (round + 1), dropped: 1 }
    }
  const bench = new Bench({ name: 'try', options: { connections: '50', pin: false }, quick: { connections: '4' } }, ['--out', out, ...flags])
  const groups = [{ name: 'g', beside: ['a', 'b'], subjects: { a: subject('a', 100), b: subject('b', 200), c: subject('c', 150) } }]
  return { bench, calls, out, run: () => quietly(t, () => bench.run({ groups, columns, goals: [{ subject: 'c', key: 'rps', ratioAtLeast: 0.7 }, { subject: 'c', key: 'dropped', atMost: 0 }] })) }
}

/** @param {any} t @param {() => Promise<any>} run @returns {Promise<{ results: any, said: string }>} */
async function quietly (t, run) {
  const log = t.capture(console, 'log', () => {})
  const results = await run()
  return { results, said: log().map((/** @type {any} */ { args }) => args.join(' ')).join('\n') }
}

t.test('subjects take turns, each round starts with the next subject, after a warm-up round', async t => {
  const { calls, run } = tryBench(t, ['--rounds', '3'])
  await run()
  t.same(calls, ['a-1', 'a0', 'b0', 'c0', 'b1', 'c1', 'a1', 'c2', 'a2', 'b2'])
})

t.test('results are printed and saved with machine, flags, goals and the figures of each round', async t => {
  const { run, out } = tryBench(t, ['--rounds', '2', '--connections', '7'])
  const { said } = await run()
  const saved = JSON.parse(fs.readFileSync(out, 'utf8'))
  t.match(saved, { v: 1, bench: 'try', machine: { node: process.version, kernel: String, load: Array }, settings: { connections: '7', pin: false } })
  t.same(saved.groups[0].subjects[1], { name: 'b', rounds: [{ rps: 200, dropped: 1 }, { rps: 400, dropped: 1 }] })
  t.match(said, /^c\s+225\s+0\.75 \(0\.75–0\.75\)\s+2$/m)
  t.match(said, 'g, beside b')
  t.match(said, 'goal met:    g: c: requests/s 0.75× (goal ≥ 0.7×)')
  t.match(said, 'goal missed: g: c: dropped 2 (goal ≤ 0)')
})

t.test('--quick is one round with its own settings, which flags override', async t => {
  t.match(tryBench(t, ['--quick']).bench.values, { rounds: '1', connections: '4' })
  t.match(tryBench(t, ['--quick', '--rounds', '2', '--connections', '9']).bench.values, { rounds: '2', connections: '9' })
  t.equal(new Bench({ name: 'try' }, ['--quick']).file.file, null, 'and overwrites no results')
})

t.test('--only keeps the baseline of the chosen subjects, and refuses a pattern without a match', async t => {
  const { run, calls } = tryBench(t, ['--quick', '--only', 'g / c'])
  await run()
  t.same(calls, ['a0', 'b0', 'c0'])
  const one = tryBench(t, ['--quick', '--only', '/ a$'])
  await one.run()
  t.same(one.calls, ['a0', 'b0'])
  await t.rejects(tryBench(t, ['--only', 'nothing']).run(), /--only takes a pattern that matches some of g \/ a; g \/ b; g \/ c/)
  await t.rejects(tryBench(t, ['--only', '(']).run(), /--only takes a regular expression; it is "\("/)
})

t.test('an interrupted run leaves the published results as they were', async t => {
  const out = path.join(t.testdir({ 'try.json': 'published' }), 'try.json')
  const run = (/** @type {() => Promise<any>} */ subject) =>
    quietly(t, () => new Bench({ name: 'try' }, ['--quick', '--out', out]).run({ groups: [{ name: 'g', subjects: { a: async () => ({ rps: 1 }), b: subject } }], columns }))
  await t.rejects(run(async () => { throw new Error('interrupted') }), /interrupted/)
  t.equal(fs.readFileSync(out, 'utf8'), 'published')
  const { results } = await run(async () => ({ rps: 2 }))
  t.match(results.groups, [{ name: 'g', subjects: [{ rounds: [{ rps: 1 }] }, { rounds: [{ rps: 2 }] }] }])
  t.match(JSON.parse(fs.readFileSync(out, 'utf8')).groups, results.groups.map(({ name, subjects }) => ({ name, subjects })))
})

t.test('ratios are taken within a round, then their median', t => {
  const [mine, other] = [[{ x: 10 }, null, { x: 90 }, { x: 30 }], [{ x: 5 }, { x: 1 }, { x: 100 }, { x: 10 }]]
  t.same(within(mine, other, 'x'), { median: 2, min: 0.9, max: 3, count: 3 })
  t.same(percentiles([3, 1, 2]), { p50: 2, p90: 3, p99: 3, p999: 3, max: 3 })
  const thousand = Array.from({ length: 1000 }, (_, i) => 1000 - i)
  t.same(percentiles(thousand), { p50: 500, p90: 900, p99: 990, p999: 999, max: 1000 })
  t.end()
})

t.test('the baseline is the better subject in the first column, or in another', t => {
  const subjects = [{ name: 'a', rounds: [{ rps: 1, p99: 1 }] }, { name: 'b', rounds: [{ rps: 2, p99: 2 }] }, { name: 'c', rounds: [{ rps: 9, p99: 9 }] }]
  const group = { name: 'g', beside: ['a', 'b'], subjects }
  t.equal(besideOf(group, columns), 'b')
  t.equal(besideOf(group, [{ ...columns[0], less: true }]), 'a')
  t.equal(besideOf({ ...group, by: 'p99' }, [columns[0], { key: 'p99', title: 'p99', less: true }]), 'a')
  t.equal(besideOf({ ...group, beside: [] }, columns), null)
  t.equal(besideOf({ ...group, beside: ['none'] }, columns), null)
  t.end()
})

t.test('a table shows each set of columns, in Markdown too', t => {
  const group = { name: 'g', beside: [], subjects: [{ name: 'a', rounds: [{ rps: 1000, rss: 1.25 }, { rps: 2000, rss: 1.75 }] }, { name: 'never', rounds: [] }] }
  const tables = resultTables(group, [{ key: 'rps', title: 'requests/s' }, { key: 'none', title: 'none' }, { set: 'memory', key: 'rss', title: 'MiB', digits: 1, brief: true }])
  t.same(tables, [[['', 'requests/s'], ['a', '1,500 (1,000–2,000)']], [['', 'MiB'], ['a', '1.5']]])
  t.equal(alignTable([['', 'MiB'], ['long name', '1']]), '           MiB\nlong name    1')
  t.equal(markdownTable([['', 'MiB'], ['a', '1']]), '|  | MiB |\n|---|--:|\n| a | 1 |')
  t.end()
})

t.test('goals of missing figures are left out', t => {
  const groups = [{ name: 'g', beside: ['a'], subjects: [{ name: 'a', rounds: [{ mib: 40 }] }, { name: 'b', rounds: [{ mib: 49 }] }] }]
  const goals = [{ subject: 'b', key: 'mib', above: 8 }, { subject: 'c', key: 'mib', atMost: 1 }, { group: 'other', subject: 'b', key: 'mib', atMost: 1 }]
  t.same(judge({ groups, goals, columns: [{ key: 'mib', title: 'MiB' }] }), [{ text: 'g: b: MiB 9 more (goal ≤ 8 more)', isMet: false }])
  const beside = [{ subject: 'a', key: 'mib', ratioAtMost: 0.8, beside: 'b' }, { subject: 'a', key: 'mib', ratioAtMost: 1, beside: 'none' }]
  t.same(judge({ groups, goals: beside, columns: [{ key: 'mib', title: 'MiB' }] }), [{ text: 'g: a: MiB 0.816× beside b (goal ≤ 0.8×)', isMet: false }])
  const elsewhere = {
    ...groups[0], subjects: groups[0].subjects.map(subject => ({ ...subject, rounds: [{ mib: 1 }] }))
  }
  t.same(judge({ groups: [...groups, elsewhere], goals: goals.slice(0, 1), columns: [{ key: 'mib', title: 'MiB' }] }).length, 1, 'results of another machine are not compared')
  t.same(judge({ groups, goals: [{ key: 'mib', atMost: 90 }], columns: [] }), [{ text: 'in all 2 measurements: mib 89 (goal ≤ 90)', isMet: true }])
  t.same(judge({ groups, goals: [{ key: 'dropped', atMost: 0 }], columns: [] }), [], 'a missing count is not 0')
  t.end()
})

t.test('the CPU time and the faults of a child that has exited are still counted', { skip: process.platform !== 'linux' && 'needs /proc' }, async t => {
  const burn = 'const e = process.cpuUsage().user + 100_000; while (process.cpuUsage().user < e);'
  const parent = spawn(process.execPath, ['-e', `
    process.on('message', () => require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(burn)}]).once('exit', () => process.send('burnt')))
    process.send('up')`], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => parent.kill('SIGKILL'))
  await once(parent, 'message')
  const pid = /** @type {number} */ (parent.pid)
  const before = usedBy(pid)
  const usage = new Usage(pid, 20)
  parent.send('burn')
  await once(parent, 'message')
  const used = usage.stop()
  t.ok(used && used.cpuMs >= 100, `${used?.cpuMs} ms`)
  t.ok(used && used.minorFaults > 500 && usedBy(pid).minorFaults - before.minorFaults >= used.minorFaults, `${used?.minorFaults} faults`)
  t.ok(used && used.rssPeakBytes > used.rssMeanBytes && used.rssMeanBytes > 2e7, 'parent and child together')
  t.throws(() => usedBy(2 ** 30), /no \/proc/)
})

t.test('bad flags are refused by one sentence', t => {
  const options = { connections: '50', patience: '0', workers: '1,5', rate: '', apps: { default: 'a,b', of: ['a', 'b'] }, fleets: { default: '5x50', like: /^\d+x\d+$/ } }
  for (const [flag, value, said] of [
    ['rounds', '0', '--rounds takes a number above 0; it is "0"'],
    ['connections', 'abc', '--connections takes a number above 0; it is "abc"'],
    ['patience', '-1', '--patience takes a number from 0 on; it is "-1"'],
    ['workers', '1,x', '--workers takes numbers above 0, such as 1,5; it is "1,x"'],
    ['rate', 'fast', '--rate takes a number from 0 on; it is "fast"'],
    ['apps', 'c', '--apps takes some of a,b; it is "c"'],
    ['fleets', '5', '--fleets takes what looks like 5x50; it is "5"']
  ]) {
    t.throws(() => new Bench({ name: 'try', options }, [`--${flag}=${value}`, '--quick']), { message: said })
  }
  t.throws(() => new Bench({ name: 'try' }, ['--nonsense']), { message: /^Unknown option '--nonsense'; there are --rounds --quick/ })
  t.throws(() => new Bench({ name: 'try' }, ['--rounds', '-1']), { message: /^Option '--rounds' argument is ambiguous; there are [^\n]*$/ })
  t.match(new Bench({ name: 'try', options }, ['--quick', '--patience', '3', '--rate=7', '--apps=b, a', '--only= g']).values, { patience: '3', rate: '7', apps: 'b,a', only: ' g' })
  t.end()
})

t.test('--help of each bench is the comment that its file begins with, and its flags', async t => {
  const folder = path.join(__dirname, '..', '..', 'bench')
  for (const name of fs.readdirSync(folder).filter(name => name.endsWith('.js'))) {
    const help = helpOf(fs.readFileSync(path.join(folder, name), 'utf8'), {})
    t.match(help, new RegExp(`^[A-Z][^]*^ {4}(npm run bench:|node bench/)${name.slice(0, -3)}\\b`, 'm'), name)
    t.notMatch(help, /^ \*|\*\//m)
  }
  t.equal(helpOf("'use strict'\n\n/**\n * What it does.\n *\n *     node x.js\n */\n\n/** no more */\n", { rounds: '5', peers: { default: 'a', of: ['a', 'b'] }, out: { default: '' }, quick: false }), `What it does.

    node x.js

Flags:
  --rounds  5 unless given
  --peers   some of a,b; a unless given
  --out     none unless given
  --quick   a switch`)
})
