'use strict'

require('../support/bare-children')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { Bench } = require('../../bench/support/rounds')
const { resultTables, judge, besideOf } = require('../../bench/support/results')
const { alignTable, markdownTable } = require('../../bench/support/table')
const { percentiles, within } = require('../../bench/support/statistics')
const { Usage, usedBy } = require('../../bench/support/usage')
const { spawn } = require('node:child_process')
const { once } = require('node:events')

const columns = [{ key: 'rps', title: 'requests/s', ratio: true }, { key: 'dropped', title: 'dropped', total: true }]

/** A bench whose subjects only note when they are called. @param {any} t @param {string[]} flags */
function tryBench (t, flags) {
  const out = path.join(t.testdir(), 'results', 'try.json')
  /** @type {string[]} */
  const calls = []
  const subject = (/** @type {string} */ name, /** @type {number} */ rps) => async (/** @type {{ round: number }} */ { round }) => {
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

t.test('subjects take turns, each round beginning with the next, after one has been warmed up', async t => {
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

t.test('--quick is one round with its own settings, which flags beat', async t => {
  t.match(tryBench(t, ['--quick']).bench.values, { rounds: '1', connections: '4' })
  t.match(tryBench(t, ['--quick', '--rounds', '2', '--connections', '9']).bench.values, { rounds: '2', connections: '9' })
  t.equal(new Bench({ name: 'try' }, ['--quick']).file.file, null, 'and overwrites no results')
})

t.test('--only keeps what the chosen are compared with, and refuses what matches nothing', async t => {
  const { run, calls } = tryBench(t, ['--quick', '--only', 'g / c'])
  await run()
  t.same(calls, ['a0', 'b0', 'c0'])
  const one = tryBench(t, ['--quick', '--only', '/ a$'])
  await one.run()
  t.same(one.calls, ['a0', 'b0'])
  await t.rejects(tryBench(t, ['--only', 'nothing']).run(), /--only takes a pattern that matches some of g \/ a; g \/ b; g \/ c/)
  await t.rejects(tryBench(t, ['--only', '(']).run(), /--only takes a regular expression; it is "\("/)
})

t.test('--resume measures the rounds that are missing alone, and refuses what was taken with other flags', async t => {
  const { run, calls, out, bench } = tryBench(t, ['--rounds', '2', '--resume'])
  await run()
  const saved = JSON.parse(fs.readFileSync(out, 'utf8'))
  saved.groups[0].subjects[2].rounds[1] = null
  fs.writeFileSync(out, JSON.stringify(saved))
  calls.length = 0
  await run()
  t.same(calls.filter(call => !call.endsWith('-1')), ['b1', 'c1', 'a1'], 'a ratio is taken within a round')
  t.equal(bench.rounds, 2)
  fs.writeFileSync(out, JSON.stringify({ ...saved, settings: { ...saved.settings, connections: '1' } }))
  await t.rejects(run(), /--resume goes on with the same flags; .* was taken with others/)
  fs.writeFileSync(out, 'no JSON')
  await t.rejects(run(), /holds none/)
})

t.test('--resume goes on with other groups, where a flag only chooses among them', async t => {
  const out = path.join(t.testdir(), 'try.json')
  const take = (/** @type {string[]} */ apps, /** @type {string[]} */ more = []) => {
    const bench = new Bench({ name: 'try', options: { apps: { default: 'x,y', of: ['x', 'y'] }, pin: false }, selects: ['apps'] }, ['--out', out, '--rounds', '1', '--apps', apps.join(','), ...more])
    return quietly(t, () => bench.run({ groups: apps.map(name => ({ name, subjects: { a: async () => ({ rps: 1 }) } })), columns }))
  }
  await take(['x'])
  const { results } = await take(['y'], ['--resume'])
  t.match(results, { settings: { apps: 'x,y' }, groups: [{ name: 'y' }, { name: 'x', subjects: [{ name: 'a', rounds: [{ rps: 1 }] }] }] })
  await t.rejects(take(['y'], ['--resume', '--pin']), /--resume goes on with the same flags/)
})

t.test('--resume does not lose what a group was measured with', async t => {
  const out = path.join(t.testdir(), 'try.json')
  const take = (/** @type {string[]} */ names, /** @type {string[]} */ more = []) => {
    const bench = new Bench({ name: 'try' }, ['--out', out, '--rounds', '1', ...more])
    return quietly(t, () => bench.run({ groups: [{ name: 'g', subjects: Object.fromEntries(names.map(name => [name, async () => ({ rps: 1 })])) }], columns }))
  }
  await take(['a', 'b'])
  const { results: same } = await take(['a', 'b', 'c'], ['--resume', '--minutes', '0'])
  t.match(same.groups, [{ name: 'g', machine: { node: process.version }, subjects: [{ name: 'a', rounds: [{ rps: 1 }] }, { name: 'b' }] }], 'not before it has a whole round with more')
  t.same(JSON.parse(fs.readFileSync(out, 'utf8')).groups, same.groups)
  await t.rejects(take(['a'], ['--resume']), { message: '--resume goes on with all that a group was measured with; "g" has b too' })
  const { results } = await take(['a', 'b', 'c'], ['--resume'])
  t.match(results.groups[0].subjects.map((/** @type {any} */ { name, rounds }) => [name, rounds.length]), [['a', 1], ['b', 1], ['c', 1]], 'more than before are measured anew, together')
})

t.test('--resume on another machine begins groups of its own, and says of each where it was measured', async t => {
  const out = path.join(t.testdir(), 'try.json')
  const take = (/** @type {string} */ name, /** @type {string} */ rounds, /** @type {string[]} */ more = []) => {
    const bench = new Bench({ name: 'try' }, ['--out', out, '--rounds', rounds, '--resume', ...more])
    return quietly(t, () => bench.run({ groups: [{ name, subjects: { a: async () => ({ rps: 1 }) } }], columns }))
  }
  const told = (/** @type {any} */ { results }) => results.groups.map((/** @type {any} */ { name, machine, subjects }) => [name, machine.cpu, subjects[0].rounds.length])
  const { results } = await take('x', '2')
  const machine = { ...results.machine, cpu: 'Another', node: 'v1.2.3' }
  fs.writeFileSync(out, JSON.stringify({ ...results, machine, groups: results.groups.map((/** @type {any} */ { machine, ...group }) => group) }))
  const both = await take('y', '1')
  const { cpu } = results.machine
  t.same(told(both), [['y', cpu, 1], ['x', 'Another', 2]])
  t.match(both.said, /\nx; 2 rounds\nNode v1\.2\.3.*, \d+ × Another/)
  t.notMatch(both.said, /\ny\nNode/)
  t.same(told(await take('x', '1')), [['x', cpu, 1], ['y', cpu, 1], ['x', 'Another', 2]], 'the same group, beside')
  t.same(told(await take('x', '2')), [['x', cpu, 2], ['y', cpu, 1], ['x', 'Another', 2]], 'gone on with where it belongs')
  t.same(told(await take('z', '1', ['--minutes', '0'])), [['z', cpu, 0], ['x', cpu, 2], ['y', cpu, 1], ['x', 'Another', 2]])
  t.same(JSON.parse(fs.readFileSync(out, 'utf8')).groups.length, 4)
})

t.test('with --minutes no round is begun when they are over, and what was measured is kept', async t => {
  const { run, calls } = tryBench(t, ['--minutes', '0'])
  const { results } = await run()
  t.same(calls, [])
  t.same(results.groups[0].subjects[0].rounds, [])
})

t.test('ratios are taken within a round, then their median', t => {
  const [mine, other] = [[{ x: 10 }, null, { x: 90 }, { x: 30 }], [{ x: 5 }, { x: 1 }, { x: 100 }, { x: 10 }]]
  t.same(within(mine, other, 'x'), { median: 2, min: 0.9, max: 3, count: 3 })
  t.same(percentiles([3, 1, 2]), { p50: 2, p90: 3, p99: 3, p999: 3, max: 3 })
  const thousand = Array.from({ length: 1000 }, (_, i) => 1000 - i)
  t.same(percentiles(thousand), { p50: 500, p90: 900, p99: 990, p999: 999, max: 1000 })
  t.end()
})

t.test('what is compared with is the better one in the first column, or in another', t => {
  const subjects = [{ name: 'a', rounds: [{ rps: 1, p99: 1 }] }, { name: 'b', rounds: [{ rps: 2, p99: 2 }] }, { name: 'c', rounds: [{ rps: 9, p99: 9 }] }]
  const group = { name: 'g', beside: ['a', 'b'], subjects }
  t.equal(besideOf(group, columns), 'b')
  t.equal(besideOf(group, [{ ...columns[0], less: true }]), 'a')
  t.equal(besideOf({ ...group, by: 'p99' }, [columns[0], { key: 'p99', title: 'p99', less: true }]), 'a')
  t.equal(besideOf({ ...group, beside: [] }, columns), null)
  t.equal(besideOf({ ...group, beside: ['nobody'] }, columns), null)
  t.end()
})

t.test('a table shows what was measured, a set of columns each, and in Markdown too', t => {
  const group = { name: 'g', beside: [], subjects: [{ name: 'a', rounds: [{ rps: 1000, rss: 1.25 }, { rps: 2000, rss: 1.75 }] }, { name: 'never', rounds: [] }] }
  const tables = resultTables(group, [{ key: 'rps', title: 'requests/s' }, { key: 'none', title: 'none' }, { set: 'memory', key: 'rss', title: 'MiB', digits: 1, brief: true }])
  t.same(tables, [[['', 'requests/s'], ['a', '1,500 (1,000–2,000)']], [['', 'MiB'], ['a', '1.5']]])
  t.equal(alignTable([['', 'MiB'], ['long name', '1']]), '           MiB\nlong name    1')
  t.equal(markdownTable([['', 'MiB'], ['a', '1']]), '|  | MiB |\n|---|--:|\n| a | 1 |')
  t.end()
})

t.test('goals of what was not measured are left out', t => {
  const groups = [{ name: 'g', beside: ['a'], subjects: [{ name: 'a', rounds: [{ mib: 40 }] }, { name: 'b', rounds: [{ mib: 49 }] }] }]
  const goals = [{ subject: 'b', key: 'mib', above: 8 }, { subject: 'c', key: 'mib', atMost: 1 }, { group: 'other', subject: 'b', key: 'mib', atMost: 1 }]
  t.same(judge({ groups, goals, columns: [{ key: 'mib', title: 'MiB' }] }), [{ text: 'g: b: MiB 9 more (goal ≤ 8 more)', isMet: false }])
  const beside = [{ subject: 'a', key: 'mib', ratioAtMost: 0.8, beside: 'b' }, { subject: 'a', key: 'mib', ratioAtMost: 1, beside: 'nobody' }]
  t.same(judge({ groups, goals: beside, columns: [{ key: 'mib', title: 'MiB' }] }), [{ text: 'g: a: MiB 0.816× beside b (goal ≤ 0.8×)', isMet: false }])
  const elsewhere = { ...groups[0], subjects: groups[0].subjects.map(subject => ({ ...subject, rounds: [{ mib: 1 }] })) }
  t.same(judge({ groups: [...groups, elsewhere], goals: goals.slice(0, 1), columns: [{ key: 'mib', title: 'MiB' }] }).length, 1, 'that of another machine is not judged beside it')
  t.same(judge({ groups, goals: [{ key: 'mib', atMost: 90 }], columns: [] }), [{ text: 'in all 2 measurements: mib 89 (goal ≤ 90)', isMet: true }])
  t.end()
})

t.test('the CPU time and the faults of a child that has gone are still counted', { skip: process.platform !== 'linux' && 'needs /proc' }, async t => {
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

t.test('a run that is broken off leaves what was published as it was, and can be gone on with', async t => {
  const { bench, out, run } = tryBench(t, ['--rounds', '1', '--resume'])
  await run()
  const published = fs.readFileSync(out, 'utf8')
  const subjects = { a: async () => ({ rps: 1 }), b: async () => { throw new Error('broken off') } }
  await t.rejects(quietly(t, () => bench.run({ groups: [{ name: 'h', subjects }], columns })), /broken off/)
  t.equal(fs.readFileSync(out, 'utf8'), published)
  t.match(JSON.parse(fs.readFileSync(`${out}.partial`, 'utf8')).groups, [{ name: 'h' }, { name: 'g' }], 'with what was not chosen this time')
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
