'use strict'

/** The README says what there is: every option as the table has it, and every event of the journal. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { excerpt } = require('../bench/support/excerpts')
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

t.test('what the README has of the benches is what they have published (npm run bench:readme)', async t => {
  const results = path.join(ROOT, 'bench', 'results')
  const files = fs.readdirSync(results).filter(file => /^gc-node\d+\.json$/.test(file)).sort().map(file => JSON.parse(fs.readFileSync(path.join(results, file), 'utf8')))
  const blocks = [...readme().matchAll(/<!-- gc: ([a-z-]+) -->([^]*?)<!-- \/gc -->/g)]
  t.same(blocks.map(([, name]) => name), ['huge-heap', 'sum'])
  for (const [, name, text] of blocks) t.equal(text.trim(), excerpt(name, files), name)
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
