'use strict'

/** The README says what there is: every option as the table has it, and every event of the journal. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { blocksOf, excerpt } = require('../bench/excerpts')
const { readResults } = require('../bench/support/results-file')
const { OPTIONS } = require('../lib/core/options')

const ROOT = path.join(__dirname, '..')
const PRIMARY = path.join(ROOT, 'lib', 'primary')

t.test('the README has every option of the table, and no other, with its flags and its default', async t => {
  const table = /<!-- options -->([^]*)<!-- \/options -->/.exec(readme())?.[1] ?? ''
  const rows = table.split('\n').filter(line => line.startsWith('| `')).map(cellsOf)
  t.same(rows.map(([flags, fallback]) => [flags, fallback]), OPTIONS.map(({ short, flag, shown }) => [`\`${short ? `${short}, ` : ''}${flag}\``, shown]))
  for (const [flags, , meaning] of rows) t.ok(meaning, `${flags} has a meaning`)
})

t.test('the README has every event that the journal records', async t => {
  const events = fs.readdirSync(PRIMARY, { recursive: true })
    .filter(file => String(file).endsWith('.js'))
    .flatMap(file => recordedIn(fs.readFileSync(path.join(PRIMARY, String(file)), 'utf8')))
  t.ok(events.length >= 10)
  const text = readme()
  t.same([...new Set(events)].filter(event => !text.includes(`\`${event}\``)), [])
})

t.test('what README.md and docs/*.md have of the benches is what is published (npm run bench:readme)', async t => {
  const docs = path.join(ROOT, 'docs')
  const pages = ['README.md', ...fs.existsSync(docs) ? fs.readdirSync(docs).filter(name => name.endsWith('.md')).map(name => path.join('docs', name)) : []]
  const blocks = pages.flatMap(page => blocksOf(fs.readFileSync(path.join(ROOT, page), 'utf8')).map(block => ({ page, ...block })))
  t.ok(blocks.length > 0)
  for (const { page, expression, text } of blocks) t.equal(text, excerpt(expression, bench => readResults(bench)), `${page}: ${expression}`)
})

function readme () {
  return fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8')
}

/** @param {string} row of a Markdown table @returns {string[]} */
function cellsOf (row) {
  return row.split(/(?<!\\)\|/).slice(1, -1).map(cell => cell.trim().replaceAll('\\|', '|'))
}

/** Whatever text stands in the place of a record's event, also where it is chosen between two. @param {string} source */
function recordedIn (source) {
  return [...source.matchAll(/\brecord\(([^,()]+),/g)].flatMap(([, event]) => [...event.matchAll(/'([\w.]+)'/g)].map(match => match[1]))
}
