'use strict'

const { BENCH } = require('../support/bench')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const t = require('tap')

/** @param {string[]} args */
function table (...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(BENCH, 'table.js'), ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('bench:table prints the tables of the groups that match, with machine, flags and goals', t => {
  const file = path.join(t.testdir({
    'try.json': JSON.stringify({
      v: 1,
      bench: 'try',
      date: '2026-01-02T00:00:00.000Z',
      machine: { cpu: 'a CPU', cpus: 2, memoryBytes: 2 ** 34, kernel: 'Linux 1', arch: 'x64', node: 'v20.1.0', v8: '11', flags: '', load: [0, 0, 0] },
      settings: { generator: 'raw' },
      columns: [{ key: 'rps', title: 'requests/s', ratio: true }],
      goals: [{ subject: 'b', key: 'rps', ratioAtLeast: 3 }],
      groups: ['first', 'second'].map(name => ({ name, beside: ['a'], subjects: [{ name: 'a', rounds: [{ rps: 100 }] }, { name: 'b', rounds: [{ rps: 200 }] }] }))
    })
  }), 'try.json')
  const { status, stdout } = table(file, '--group', '^sec')
  t.equal(status, 0)
  t.equal(stdout, `try, 2026-01-02, --generator raw

second, beside a; 1 round
Node v20.1.0, 2 × a CPU (x64), 16 GiB, Linux 1, load average 0 0 0
   requests/s     ×
a         100     1
b         200  2.00

goal missed: second: b: requests/s 2× (goal ≥ 3×)
`)
  t.end()
})

t.test('bench:table --list names the results that can be printed', t => {
  const { status, stdout } = table('--list')
  t.equal(status, 0)
  const heads = [...stdout.matchAll(/^(\S+) --node (\d+)$/gm)]
  t.ok(heads.length > 8)
  const [, bench, node] = heads[heads.length - 1]
  t.match(table(bench, '--node', node), { status: 0, stderr: '', stdout: new RegExp(`^${bench}, .*\\n[^]*Node v${node}\\.`) })
  t.end()
})

t.test('bench:table refuses bad input by one sentence', t => {
  const other = path.join(t.testdir({ 'other.json': '{}', 'none.json': 'no' }))
  for (const [args, said] of /** @type {[string[], RegExp][]} */ ([
    [[], /takes one bench, of boot, .*drops, .* or a file; usage: /],
    [['boot', 'drops'], /takes one bench, of /],
    [['nonsense'], /it is "nonsense"$/],
    [['boot', '--node', '21'], /--node takes one of 20, 24 for boot; it is "21"$/],
    [['boot', '--group', '('], /--group takes a regular expression; it is "\("$/],
    [['boot', '--group', 'no such'], /--group takes a pattern that matches a group \(see --list\); it is "no such"$/],
    [['--nonsense'], /Unknown option '--nonsense'; usage: /],
    [[path.join(other, 'missing.json')], /missing\.json is none \(ENOENT\)$/],
    [[path.join(other, 'none.json')], /none\.json is none \(no JSON\)$/],
    [[path.join(other, 'other.json')], /other\.json is none \(another format\)$/]
  ])) {
    const { status, stdout, stderr } = table(...args)
    t.same([status, stdout, stderr.split('\n').length], [2, '', 2], args.join(' '))
    t.match(stderr.trim(), said)
  }
  t.end()
})
