'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { ROOT } = require('../support/docs')

const sources = fs.readdirSync(path.join(ROOT, 'test'), { recursive: true }).map(String).filter(name => /\.js$/.test(name) && !name.includes('fixtures'))
  .map(name => fs.readFileSync(path.join(ROOT, 'test', name), 'utf8').replaceAll("\\'", "'")).join('\n')

/** The last cells of a table. @param {string} page @param {RegExp} heading of the section @returns {string[][]} its rows */
function rowsOf (page, heading) {
  const [, section] = fs.readFileSync(path.join(ROOT, 'docs', page), 'utf8').split(heading)
  return section.split(/^## /m)[0].split('\n').filter(row => /^\|/.test(row)).slice(2).map(row => row.split('|').slice(1, -1).map(cell => cell.trim()))
}

t.test('each threat of the security page has a test of that title, or says that nothing holds', async t => {
  const rows = rowsOf('security.md', /^## Threats$/m)
  t.ok(rows.length > 15)
  for (const [threat, holds, title] of rows) t.ok(title === '–' ? holds.includes('**nothing holds**') : sources.includes(title), `${threat}: ${title}`)
})

t.test('each case of another supervisor has a test of that title', async t => {
  const rows = rowsOf('contributing.md', /^## Cases of other supervisors$/m)
  t.ok(rows.length > 10)
  for (const [from, , title] of rows) t.ok(sources.includes(title), `${from}: ${title}`)
})
