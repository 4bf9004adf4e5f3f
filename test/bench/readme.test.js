'use strict'

const { BENCH } = require('../support/bench')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const RESULTS = path.join(BENCH, 'results')
const ROOT = path.join(BENCH, '..')

/** The page and its plots, made of the results in a folder. @param {string} folder */
function make (folder) {
  execFileSync(process.execPath, [path.join(BENCH, 'readme.js'), folder])
  return fs.readFileSync(path.join(folder, 'README.md'), 'utf8')
}

t.test('the published page and its plots are the output of npm run bench:readme for the published results', t => {
  const folder = t.testdir()
  for (const file of fs.readdirSync(RESULTS).filter(name => name.endsWith('.json'))) fs.copyFileSync(path.join(RESULTS, file), path.join(folder, file))
  const page = make(folder)
  t.equal(fs.readFileSync(path.join(RESULTS, 'README.md'), 'utf8'), page)
  t.ok(page.split('\n').length <= 300, 'the page is readable')
  t.notMatch(page, /\{\{|undefined|NaN|No results yet|not measured yet/)
  for (const file of fs.readdirSync(folder).filter(name => name.endsWith('.svg'))) t.same(fs.readFileSync(path.join(RESULTS, file)), fs.readFileSync(path.join(folder, file)), file)
  t.end()
})

t.test('the template has no figure but that of the 2017 experiment: each is an excerpt', t => {
  const lines = fs.readFileSync(path.join(RESULTS, 'TEMPLATE.md'), 'utf8').replace(/\{\{[^}]+\}\}|0\.64 %/g, '').split('\n')
  t.same(lines.filter(line => /\d[.,]\d|\d ?(ms|µs|×|MiB)\b/.test(line.replace(/`[^`]*`/g, ''))), [])
  t.end()
})

t.test('every plot is shown by some page, and every plot of the results page is there', t => {
  const pages = [path.join(RESULTS, 'README.md'), path.join(ROOT, 'README.md'), ...listed(path.join(ROOT, 'docs')).filter(file => file.endsWith('.md'))]
  const shown = pages.flatMap(page => [...fs.readFileSync(page, 'utf8').matchAll(/\(([^()\s]+\.svg)\)/g)].map(([, file]) => path.resolve(path.dirname(page), file)))
  t.same(listed(RESULTS).filter(file => file.endsWith('.svg') && !shown.includes(file)), [], 'plots that no page shows')
  t.same(shown.filter(file => !fs.existsSync(file)), [], 'plots that are missing')
  t.end()
})

t.test('every command of the page is a script of package.json', t => {
  const { scripts } = require('../../package.json')
  const page = fs.readFileSync(path.join(RESULTS, 'README.md'), 'utf8')
  const named = [...new Set([...page.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name))]
  t.ok(named.length >= 8)
  t.same(named.filter(name => !scripts[name]), [])
  t.end()
})

t.test('a bench without results is listed as such', t => {
  // Of an older format
  const page = make(t.testdir({ 'overhead-node18.json': JSON.stringify({ node: 'v18.0.0', results: {} }) }))
  t.match(page, 'No results yet: `npm run bench:overhead`.')
  t.match(page, '- overhead: not measured yet')
  t.notMatch(page, /\{\{|undefined|NaN/)
  t.end()
})

/** @param {string} folder @returns {string[]} none, where it is missing */
function listed (folder) {
  return fs.existsSync(folder) ? fs.readdirSync(folder).map(name => path.join(folder, name)) : []
}
