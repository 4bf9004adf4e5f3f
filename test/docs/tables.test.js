'use strict'

/** The tables of the documentation are complete: options, events, reasons, metrics, and published results. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { blocksOf, excerpt } = require('../../bench/excerpts')
const { readResults } = require('../../bench/support/results-file')
const { openAccount } = require('../../lib/core/account')
const { readConfig } = require('../../lib/cli/config-contents')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { TRANSITIONS } = require('../../lib/core/state')
const { DRILL_OPTIONS } = require('../../lib/tools/drill/options')
const { EVENTS } = require('../../lib/journal/events')
const { WARNINGS } = require('../../lib/journal/warnings')
const { Metrics } = require('../../lib/operate/admin/metrics')
const { pages, ROOT, page, fences, inlineCode, rows } = require('../support/docs')
const { lineFields } = require('../support/line-fields')

const METRICS = new Metrics().render({
  workers: [], totals: { workers: 0, moves: {} }, memory: null, memoryByRoute: null
})

t.test('the table of options has every option and no other, with its flags and its default', async t => {
  const table = between(page('docs/options.md').text, 'options')
  t.same(table.map(([flags, fallback]) => [flags, fallback]).sort(), OPTIONS.map(({ short, flag, defaultText }) => [`\`${short ? `${short}, ` : ''}${flag}\``, defaultText]).sort())
  for (const [flags, , meaning] of table) t.ok(meaning, `${flags} has a meaning`)
})

t.test('the table of the drill has every option of its own, with its flags and its default', async t => {
  const table = tableBelow(page('docs/drill-and-report.md').text, '| option of `recycle drill` |')
  t.same(table.map(([flags, fallback]) => [flags, fallback]), DRILL_OPTIONS.map(({ short, flag, defaultText }) => [`\`${short ? `${short}, ` : ''}${flag}\``, defaultText]))
})

t.test('the options that the README shows have their flags, and their default as the table has it', async t => {
  const table = tableBelow(page('README.md').text, '| option | default |')
  t.equal(table.length, 10)
  for (const [flags, fallback] of table) {
    const option = OPTIONS.find(({ short, flag }) => flags === `\`${short ? `${short}, ` : ''}${flag}\``)
    t.ok(option, flags)
    t.equal(fallback, option?.name === 'workers' ? '2×CPU+1' : option?.defaultText, flags)
  }
})

t.test('the config file of the docs is valid', async t => {
  const [json] = fences(page('docs/options.md').text, /^json$/)
  const { app, values } = readConfig(JSON.parse(json), 'docs/options.md')
  t.equal(app, 'server.js')
  t.match(resolveOptions({}, { file: { name: 'docs/options.md', values }, parallelism: 2 }), { workers: 4, maxRssBytes: 512 * 1024 ** 2 })
})

t.test('the page on the journal has every event that has a row, and no other, and each that is recorded has a row', async t => {
  const { text } = page('docs/journal.md')
  const recorded = [...sources('lib/primary'), ...sources('lib/features'), ...sources('lib/operate')].flatMap(recordedIn)
  t.ok(recorded.length >= 10)
  t.same(recorded.filter(event => !Object.hasOwn(EVENTS, event)), [])
  const shown = new Set(['| event | when | fields |', '| event | fields |'].flatMap(head => tableBelow(text, head)).flatMap(([event]) => event.split(', ')))
  t.same([...shown].sort(), Object.keys(EVENTS).map(event => `\`${event}\``).sort())
})

t.test('the row of each event has the fields that its lines have, and those of warnings are in their table', async t => {
  const { text } = page('docs/journal.md')
  const words = (/** @type {string} */ part) => new Set(inlineCode(part).flatMap(code => code.split(/[^\w]+/)))
  const section = (/** @type {string} */ anchor) => text.split(/^#+ /m).find(part => part.split('\n')[0].toLowerCase().replaceAll(' ', '-') === anchor) ?? ''
  const fields = lineFields()
  t.same([...fields.keys()].sort(), Object.keys(EVENTS).sort(), 'each event has a type')
  const table = ['| event | when | fields |', '| event | fields |'].flatMap(head => tableBelow(text, head))
  const missing = [...fields].flatMap(([event, names]) => {
    const at = table.findIndex(([events]) => events.split(', ').includes(`\`${event}\``))
    const row = table[at].join(' ')
    const seeAlso = [...row.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => section(anchor))
    if (/\bthe account\b/.test(row)) seeAlso.push(section('the-account-of-a-drain'))
    const before = /\bthe same\b/.test(row) ? table[at - 1].join(' ') : ''
    const warnings = event === 'fleet.warning' ? tableBelow(text, '| `warning` | meaning |').flat().join(' ') : ''
    const shown = words([row, before, warnings, ...seeAlso].join('\n'))
    return names.filter(name => !['slot', 'pid'].includes(name) && !shown.has(name)).map(name => `${event}: ${name}`)
  })
  t.same(missing.filter(field => field !== 'worker.retire: error'), [], 'that is of a process that could not be started: see worker.crash')
})

t.test('the page on the journal has every warning, every reason and every field of an account', async t => {
  const { text } = page('docs/journal.md')
  const code = new Set(inlineCode(text).flatMap(code => code.split(/[^\w-]+/)))
  const warnings = [...sources('lib/primary'), ...sources('lib/core')].flatMap(source => [...source.matchAll(/\bwarning: '([\w-]+)'/g)].map(([, warning]) => warning))
  const reasons = [...(await METRICS).matchAll(/^recycle_recycles_total\{reason="([\w-]+)"\}/gm)].map(([, reason]) => reason)
  t.ok(warnings.length >= 4)
  t.same(warnings.filter(warning => !Object.hasOwn(WARNINGS, warning)), [])
  t.ok(reasons.length >= 8)
  t.same([...Object.keys(WARNINGS), ...reasons, ...Object.keys(openAccount(0, 0))].filter(word => !code.has(word)), [])
})

t.test('the page on metrics has every metric and its type, and no other', async t => {
  const types = [...(await METRICS).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  t.ok(types.length > 20)
  t.same(tableBelow(page('docs/metrics.md').text, '| metric |').map(([name, type]) => `${name.replaceAll('`', '')} ${type}`).sort(), types.sort())
})

t.test('the pages on operating and metrics have every state of a worker that is alive', async t => {
  const alive = Object.entries(TRANSITIONS).filter(([, next]) => next.length > 0).map(([state]) => state)
  for (const name of ['docs/operating.md', 'docs/metrics.md']) t.same(alive.filter(state => !inlineCode(page(name).text).includes(state)), [], name)
})

t.test('the figures on the pages are the published ones (npm run bench:readme)', async t => {
  const blocks = pages().flatMap(({ name, text }) => blocksOf(text).map(block => ({ page: name, ...block })))
  t.ok(blocks.length > 0)
  for (const { page, expression, text } of blocks) t.equal(text, excerpt(expression, bench => readResults(bench)), `${page}: ${expression}`)
})

/** @param {string} text @param {string} mark @returns {string[][]} the rows of the table between its two comments */
function between (text, mark) {
  return rows(text.slice(text.indexOf(`<!-- ${mark} -->`), text.indexOf(`<!-- /${mark} -->`)))
}

/** @param {string} text @param {string} head how the table's first line begins @returns {string[][]} */
function tableBelow (text, head) {
  const from = text.indexOf(head)
  return from === -1 ? [] : rows(text.slice(from).split('\n\n')[0])
}

/** @param {string} folder @returns {string[]} what the files in it hold */
function sources (folder) {
  return fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .filter(file => String(file).endsWith('.js'))
    .map(file => fs.readFileSync(path.join(ROOT, folder, String(file)), 'utf8'))
}

/** Every event name in a source file, also those chosen by a condition. @param {string} source */
function recordedIn (source) {
  return [...source.matchAll(/\b(?:record|announce)\(([^,()]+),/g)].flatMap(([, event]) => [...event.matchAll(/'([\w.-]+)'/g)].map(match => match[1]))
}
