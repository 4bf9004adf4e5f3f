'use strict'

const { BENCH } = require('../support/bench')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { drawPlot } = require('../../bench/support/plot')

const columns = [{ key: 'rps', title: 'requests/s', ratio: true }, { key: 'dropped', title: 'dropped', total: true }]
const machine = { cpu: 'a CPU', cpus: 2, memoryBytes: 2 ** 34, kernel: 'Linux 1', arch: 'x64', node: 'v20.1.0', v8: '11', flags: '', load: [0, 0, 0] }

/** @param {string} node @param {number} rps */
function resultsOf (node, rps) {
  const subjects = [{ name: 'bare', rounds: [{ rps: 100, dropped: 0 }, { rps: 200, dropped: 0 }] }, { name: 'a < b', rounds: [{ rps, dropped: 1 }, { rps: 2 * rps, dropped: 2 }] }, { name: 'never', rounds: [] }]
  return { v: 1, bench: 'try', date: '2026-01-02T00:00:00.000Z', machine: { ...machine, node }, settings: { connections: '7' }, columns, goals: [{ subject: 'a < b', key: 'rps', ratioAtLeast: 0.98 }], plots: [{ key: 'rps', title: 'Throughput', ratio: true }], groups: [{ name: 'keep-alive', beside: ['bare'], subjects }] }
}

t.test('a plot has a dot for each version of Node, placed by its figure', t => {
  const svg = String(drawPlot({ key: 'rps', title: 'Throughput' }, [resultsOf('v20.1.0', 50), resultsOf('v24.1.0', 400)]))
  const dots = [...svg.matchAll(/<title>([^<]*)<\/title><path d="M([\d.]+),[\d.]+H([\d.]+)"\/><circle cx="([\d.]+)"/g)].map(([, text, from, to, at]) => ({ text, from: Number(from), to: Number(to), at: Number(at) }))
  t.same(dots.map(({ text }) => text), ['bare, Node v20: 150 (100–200)', 'bare, Node v24: 150 (100–200)', 'a &lt; b, Node v20: 75 (50–100)', 'a &lt; b, Node v24: 600 (400–800)'])
  t.ok(dots.every(({ from, at, to }) => from < at && at < to && to <= 880))
  t.ok(dots[2].at < dots[0].at && dots[0].at === dots[1].at && dots[1].at < dots[3].at)
  t.notMatch(svg, /NaN|undefined|Infinity/)
  t.match(svg, 'prefers-color-scheme: dark')
  t.end()
})

t.test('a plot of ratios leaves out what they are taken beside, and marks 1', t => {
  const svg = String(drawPlot({ key: 'rps', title: 'Throughput', ratio: true }, [resultsOf('v20.1.0', 50)]))
  t.match(svg, '<title>a &lt; b, Node v20: 0.5× (0.5–0.5)</title>')
  t.notMatch(svg, '<title>bare')
  t.equal(svg.match(/class="one"/g)?.length, 1)
  t.notMatch(svg, /NaN|undefined|Infinity/)
  t.end()
})

t.test('a plot of zeros stands; one of nothing is none', t => {
  const file = resultsOf('v20.1.0', 50)
  for (const { rounds } of file.groups[0].subjects) rounds.forEach(figures => { figures.dropped = 0 })
  t.notMatch(String(drawPlot({ key: 'dropped', title: 'Dropped' }, [file])), /NaN|undefined|Infinity/)
  t.equal(drawPlot({ key: 'unknown', title: 'Nothing' }, [file]), null)
  t.equal(drawPlot({ key: 'rps', title: 'Nothing', groups: 'no such group' }, [file]), null)
  t.end()
})

t.test('the README of results is made of the files that are there', t => {
  const folder = t.testdir({
    'overhead-node20.json': JSON.stringify(resultsOf('v20.1.0', 50)),
    'overhead-node100.json': JSON.stringify(resultsOf('v100.1.0', 200)),
    'overhead-node18.json': JSON.stringify({ node: 'v18.0.0', results: {} }) // of an older format
  })
  execFileSync(process.execPath, [path.join(BENCH, 'readme.js'), folder])
  const text = fs.readFileSync(path.join(folder, 'README.md'), 'utf8')
  t.match(text, '![Throughput](overhead-rps.svg)')
  t.ok(fs.existsSync(path.join(folder, 'overhead-rps.svg')))
  t.match(text, '| a < b | 75 | 0.50 (0.50–0.50) | 3 |')
  t.ok(text.indexOf('Node v20.1.0: goals') < text.indexOf('Node v100.1.0: goals'), 'by version')
  t.match(text, '- **missed**: keep-alive: a < b: requests/s 0.5× (goal ≥ 0.98×)')
  t.match(text, '- met: keep-alive: a < b: requests/s 2× (goal ≥ 0.98×)')
  t.match(text, 'No results yet: `npm run bench:gc`.')
  t.notMatch(text, /\{\{|undefined|NaN/)
  t.end()
})

t.test('a group that was measured on two machines has a table of each, and a dot of the latest that was begun', t => {
  const [file, other] = [resultsOf('v20.1.0', 50), resultsOf('v20.1.0', 300)]
  const [{ subjects: [bare, mine] }] = other.groups
  for (const { rounds } of [bare, mine]) rounds.push(rounds[0])
  const begun = { ...other.groups[0], machine: { ...machine, cpu: 'a third' }, subjects: other.groups[0].subjects.map(({ name }) => ({ name, rounds: [] })) }
  const groups = [begun, ...file.groups, { ...file.groups[0], name: 'else' }, { ...other.groups[0], machine: { ...machine, cpu: 'another CPU' } }]
  const folder = t.testdir({ 'overhead-node20.json': JSON.stringify({ ...file, groups }) })
  execFileSync(process.execPath, [path.join(BENCH, 'readme.js'), folder])
  const text = fs.readFileSync(path.join(folder, 'README.md'), 'utf8')
  const [here, there, after] = ['**keep-alive, beside bare; 2 rounds**', '**keep-alive, beside bare; 3 rounds**\n\nOn another machine: Node v20.1.0, 2 × another CPU', '**else, '].map(heading => text.indexOf(heading))
  t.ok(here > 0 && here < there && there < after, 'one after the other')
  t.match(fs.readFileSync(path.join(folder, 'overhead-rps.svg'), 'utf8'), 'a &lt; b, Node v20: 0.5× (0.5–0.5)')
  t.end()
})

t.test('every bench of package.json that saves results has its place in the template', t => {
  const { scripts } = require('../../package.json')
  const template = fs.readFileSync(path.join(BENCH, 'results', 'TEMPLATE.md'), 'utf8')
  for (const name of [...template.matchAll(/^\{\{([a-z]+)(?:-[a-z]+)?\}\}$/gm)].map(([, name]) => name)) {
    t.match(template, `npm run bench:${name}\``)
    if (fs.existsSync(path.join(BENCH, `${name}.js`))) t.ok(scripts[`bench:${name}`], `bench:${name}`)
  }
  t.end()
})
