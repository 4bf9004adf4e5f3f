'use strict'

const t = require('tap')
const { drawPlot } = require('../../bench/support/plot')

const columns = [{ key: 'rps', title: 'requests/s', ratio: true }, { key: 'dropped', title: 'dropped', total: true }]
const machine = { cpu: 'a CPU', cpus: 2, memoryBytes: 2 ** 34, kernel: 'Linux 1', arch: 'x64', node: 'v20.1.0', v8: '11', flags: '', load: [0, 0, 0] }

/** @param {string} node @param {number} rps */
function resultsOf (node, rps) {
  const subjects = [{ name: 'bare', rounds: [{ rps: 100, dropped: 0 }, { rps: 200, dropped: 0 }] }, { name: 'a < b', rounds: [{ rps, dropped: 1 }, { rps: 2 * rps, dropped: 2 }] }, { name: 'never', rounds: [] }]
  return { v: 1, bench: 'try', date: '2026-01-02T00:00:00.000Z', machine: { ...machine, node }, settings: { connections: '7' }, columns, goals: [{ subject: 'a < b', key: 'rps', ratioAtLeast: 0.98 }], plot: { key: 'rps', title: 'Throughput', ratio: true }, groups: [{ name: 'keep-alive', beside: ['bare'], subjects }] }
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

t.test('a plot of ratios leaves out the baseline, and marks 1', t => {
  const svg = String(drawPlot({ key: 'rps', title: 'Throughput', ratio: true }, [resultsOf('v20.1.0', 50)]))
  t.match(svg, '<title>a &lt; b, Node v20: 0.5× (0.5–0.5)</title>')
  t.notMatch(svg, '<title>bare')
  t.equal(svg.match(/class="one"/g)?.length, 1)
  t.notMatch(svg, /NaN|undefined|Infinity/)
  t.end()
})

t.test('a plot of zeros is drawn; one without figures is not', t => {
  const file = resultsOf('v20.1.0', 50)
  for (const { rounds } of file.groups[0].subjects) rounds.forEach(figures => { figures.dropped = 0 })
  t.notMatch(String(drawPlot({ key: 'dropped', title: 'Dropped' }, [file])), /NaN|undefined|Infinity/)
  t.equal(drawPlot({ key: 'unknown', title: 'Nothing' }, [file]), null)
  t.equal(drawPlot({ key: 'rps', title: 'Nothing', groups: 'no such group' }, [file]), null)
  t.end()
})

t.test('for a group measured on two machines, a dot is of the first machine with rounds', t => {
  const [file, other] = [resultsOf('v20.1.0', 50), resultsOf('v20.1.0', 300)]
  const begun = { ...other.groups[0], subjects: other.groups[0].subjects.map(({ name }) => ({ name, rounds: [] })) }
  const svg = drawPlot({ key: 'rps', title: 'Throughput', ratio: true }, [{ ...file, groups: [begun, ...file.groups, ...other.groups] }])
  t.match(svg, 'a &lt; b, Node v20: 0.5× (0.5–0.5)')
  t.end()
})
