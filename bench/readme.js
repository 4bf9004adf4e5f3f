'use strict'

/**
 * Writes results/README.md and its plots from the JSON beside it: `npm run bench:readme`. The words are in results/TEMPLATE.md, where
 * a line `{{overhead}}` stands for what bench:overhead found: machine, plots, goals, tables; `{{gc: latency}}` for an excerpt
 * (support/excerpts.js). A bench without results is said to have none. What the project's README has of these, between
 * `<!-- gc: sum -->` and `<!-- /gc -->`, is written anew with the results that are published.
 *
 *     node bench/readme.js [folder]
 */

const fs = require('node:fs')
const path = require('node:path')
const { excerpt } = require('./support/excerpts')
const { reasonsOf } = require('./support/gc-log')
const { isSameMachine, machineLine } = require('./support/machine')
const { drawPlot } = require('./support/plot')
const { headingOf, judge, resultTables } = require('./support/results')
const { markdownTable } = require('./support/table')

const PUBLISHED = path.join(__dirname, 'results')
const PROJECT = path.join(__dirname, '..', 'README.md')
const folder = path.resolve(process.argv[2] ?? PUBLISHED)
const template = fs.readFileSync(path.join(PUBLISHED, 'TEMPLATE.md'), 'utf8')

const text = template
  .replace(/\{\{([a-z-]+): ([a-z-]+)\}\}/g, (_, bench, name) => withResults(bench, files => excerpt(name, files)))
  .replace(/^\{\{([a-z-]+)\}\}$/gm, (_, bench) => withResults(bench, files => sectionOf(bench, files)))
fs.writeFileSync(path.join(folder, 'README.md'), text)
if (folder === PUBLISHED) {
  fs.writeFileSync(PROJECT, fs.readFileSync(PROJECT, 'utf8')
    .replace(/(<!-- ([a-z-]+): ([a-z-]+) -->(\n?))[^]*?(<!-- \/\2 -->)/g, (_, start, bench, name, newline, end) =>
      `${start}${withResults(bench, files => excerpt(name, files))}${newline}${end}`))
}

/** @param {string} bench @param {(files: any[]) => string} write */
function withResults (bench, write) {
  const files = resultsOf(bench)
  return files.length ? write(files) : `No results yet: \`npm run bench:${bench.replace('-', ' -- --')}\`.`
}

/** @param {string} bench @param {any[]} files */
function sectionOf (bench, files) {
  const plots = files.at(-1).plots ?? [{ key: files[0].columns[0].key, title: files[0].columns[0].title }]
  return [...plots.map((/** @type {any} */ plot) => imageOf(bench, plot, files)).filter(Boolean), ...files.map(detailsOf)].join('\n\n')
}

/** By version of Node, ascending. @param {string} bench */
function resultsOf (bench) {
  const name = new RegExp(`^${bench}-node(\\d+)\\.json$`)
  return fs.readdirSync(folder).filter(file => name.test(file))
    .sort((a, b) => Number(name.exec(a)?.[1]) - Number(name.exec(b)?.[1]))
    .map(file => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')))
    .filter(({ v }) => v === 1)
}

/** @param {string} bench @param {import('./support/plot').Plot} plot @param {any[]} files */
function imageOf (bench, plot, files) {
  const svg = drawPlot(plot, files)
  if (svg === null) return null
  const file = `${[bench, plot.key, plot.name].filter(Boolean).join('-')}.svg`
  fs.writeFileSync(path.join(folder, file), svg)
  return `![${plot.title}](${file})`
}

/** @param {any} results one file's */
function detailsOf (results) {
  const { machine, date, settings, groups, columns, note, bench } = results
  const flags = Object.entries(settings).map(([name, value]) => `${name} ${value || '–'}`).join(', ')
  const goals = judge(results).map(({ text, isMet }) => `- ${isMet ? 'met' : '**missed**'}: ${text}`)
  const names = [...new Set(groups.map((/** @type {any} */ { name }) => name))] // a group that was measured on several machines: one after the other
  const inOrder = names.flatMap(name => groups.filter((/** @type {any} */ group) => group.name === name))
  const tables = inOrder.flatMap((/** @type {any} */ group) => {
    const tables = resultTables(group, columns).map(markdownTable)
    const where = group.machine && !isSameMachine(group.machine, machine) ? [`On another machine: ${machineLine(group.machine)}.`] : []
    return tables.length ? [`**${headingOf(group, columns)}**`, ...where, ...tables, ...reasonsOf(group).map(line => `- ${line}`)] : []
  })
  return [
    `<details><summary>Node ${machine.node}: goals and tables of <code>bench:${bench}</code></summary>`,
    `${date.slice(0, 10)}. ${machineLine(machine)}. ${flags}.`,
    ...(note ? [note] : []),
    ...(goals.length ? [goals.join('\n')] : []),
    ...tables,
    '</details>'
  ].join('\n\n')
}
