'use strict'

/**
 * Writes results/README.md and its plots from the JSON beside it, and the excerpts in README.md and docs/*.md:
 * `npm run bench:readme`.
 *
 * The text of the page is in results/TEMPLATE.md. There `{{plot: overhead}}` stands for the bench's plot,
 * `{{machine: overhead}}` for the machine and the settings, and any other `{{…}}` for an excerpt (excerpts/index.js).
 * README.md and docs/*.md have such excerpts between `<!-- gc: huge-heap -->` and `<!-- /gc -->`.
 *
 *     node bench/readme.js [folder]      of the results; with another than bench/results, README.md and docs are not changed
 */

const fs = require('node:fs')
const path = require('node:path')
const { excerpt, fillIn } = require('./excerpts')
const { answerHelp } = require('./support/help')
const { machineLine } = require('./support/machine')
const { drawPlot } = require('./support/plot')
const { countOf } = require('./support/results')
const { RESULTS, readResults } = require('./support/results-file')

answerHelp()
const ROOT = path.join(__dirname, '..')
const folder = path.resolve(process.argv[2] ?? RESULTS)

const read = (/** @type {string} */ bench) => readResults(bench, folder)

/** @type {Record<string, (bench: string) => string>} */
const OWN = { plot: imageOf, machine: machinesOf }

const text = fs.readFileSync(path.join(RESULTS, 'TEMPLATE.md'), 'utf8').replace(/\{\{([^}]+)\}\}/g, (_, expression) => {
  const [what, bench] = expression.split(': ')
  return OWN[what]?.(bench) ?? excerpt(expression, read)
})
fs.writeFileSync(path.join(folder, 'README.md'), text)

if (folder === RESULTS) {
  for (const page of pages()) {
    const before = fs.readFileSync(page, 'utf8')
    const after = fillIn(before, read)
    if (after !== before) fs.writeFileSync(page, after)
  }
}

/** README.md and docs/*.md. */
function pages () {
  const docs = path.join(ROOT, 'docs')
  const names = fs.existsSync(docs) ? fs.readdirSync(docs).filter(name => name.endsWith('.md')) : []
  return [path.join(ROOT, 'README.md'), ...names.map(name => path.join(docs, name))]
}

/** @param {string} bench */
function imageOf (bench) {
  const files = read(bench)
  const svg = files.length ? drawPlot(files[files.length - 1].plot, files) : null
  if (svg === null) return `No results yet: \`npm run bench:${bench}\`.`
  fs.writeFileSync(path.join(folder, `${bench}.svg`), svg)
  return `![${files[files.length - 1].plot.title}](${bench}.svg)`
}

/** A line for each Node. @param {string} bench */
function machinesOf (bench) {
  return read(bench).map(({ machine, date, settings, groups }) => {
    const flags = Object.entries(settings).filter(([, value]) => value !== '' && value !== false).map(([name, value]) => `${name} ${value}`).join(', ')
    return `- ${bench}, ${date.slice(0, 10)}, up to ${Math.max(...groups.map(countOf))} rounds. ${machineLine(machine)}. Flags: ${flags}.`
  }).join('\n') || `- ${bench}: not measured yet`
}
