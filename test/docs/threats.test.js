'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { ROOT } = require('../support/docs')

/**
 * The rows of a table.
 *
 * @param {string} page @param {RegExp} heading of the section
 * @returns {string[][]} the cells of each
 */
function rowsOf (page, heading) {
  const [, section] = fs.readFileSync(path.join(ROOT, 'docs', page), 'utf8').split(heading)
  return section.split(/^## /m)[0].split('\n').filter(row => /^\|/.test(row)).slice(2).map(row => row.split('|').slice(1, -1).map(cell => cell.trim()))
}

/** @param {string} cell a path in backticks */
const isTest = cell => /^`test\/.*\.js`$/.test(cell) && fs.existsSync(path.join(ROOT, cell.slice(1, -1)))

t.test('each threat of the security page names a file of tests that exists, or says that nothing holds', async t => {
  const rows = rowsOf('security.md', /^## Threats$/m)
  t.ok(rows.length > 15)
  for (const [threat, holds, file] of rows) t.ok(file === '–' ? holds.includes('**nothing holds**') : isTest(file), `${threat}: ${file}`)
})

t.test('each case of another supervisor names a file of tests that exists', async t => {
  const rows = rowsOf('contributing.md', /^## Cases of other supervisors$/m)
  t.ok(rows.length > 10)
  for (const [from, , file] of rows) t.ok(isTest(file), `${from}: ${file}`)
})
