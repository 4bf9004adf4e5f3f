'use strict'

/** The cases of other projects that docs/contributing.md names are in the titles of the tests that it names, and no others are. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { ROOT, page } = require('../support/docs')

const TITLE = /\((?:Puma|unicorn|nginx|HAProxy|Envoy|Pitchfork|Node\.js): [^)]*\)/g
const CASE = /\b(?:test_\w+(?:\.rb)?|test-[\w-]+\.js|[\w-]+(?:_\w+)+\.(?:t|py)|reload-bad-config\.t|seamless-reload|restart_does_not_drop_connections|term_closes_listeners)/g

const rows = [...page('docs/contributing.md').text.matchAll(/^\| [\w., ]+ \| (`.*`) \| `(test\/[\w/.-]+)`/gm)].map(([, cases, file]) => ({ cases: cases.match(/[^`, ]+/g) ?? [], file }))

t.test('each case has its test', async t => {
  t.ok(rows.length > 10)
  for (const { cases, file } of rows) {
    const titles = fs.readFileSync(path.join(ROOT, file), 'utf8').match(TITLE)?.join() ?? ''
    for (const name of cases) t.ok(titles.includes(name), `${file}: ${name}`)
  }
})

t.test('each case in a title is in the docs', async t => {
  const documented = new Set(rows.flatMap(({ cases, file }) => cases.map(name => `${file} ${name}`)))
  const folders = ['test/integration', 'test/apps']
  for (const file of folders.flatMap(folder => fs.readdirSync(path.join(ROOT, folder)).filter(name => name.endsWith('.test.js')).map(name => `${folder}/${name}`))) {
    const titles = fs.readFileSync(path.join(ROOT, file), 'utf8').match(TITLE)?.join() ?? ''
    for (const name of titles.match(CASE) ?? []) t.ok(documented.has(`${file} ${name}`), `${file}: ${name}`)
  }
})
