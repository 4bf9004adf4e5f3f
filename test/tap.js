'use strict'

/**
 * Runs tap with these arguments, or with all test files, and lists at the end what was skipped, and why: among
 * thousands of lines it is not seen. What only `npm run test:long` or test:bench has is not listed.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { suite } = require('./support/bundle')

const RESULTS = path.join('.tap', 'test-results') // what each test file printed
const SKIPPED = /^ *ok \d+ - (.*?) # SKIP ?(.*)$/gm

const ELSEWHERE = /^it takes \S+ s: npm run / // see support/campaign.js

const files = process.argv.slice(2).some(arg => !arg.startsWith('-')) ? [] : suite().map(file => path.join('test', file))
const startedAt = Date.now()
// The runner alone is started so: its test files are not
const TAP = path.join(__dirname, '..', 'node_modules', '.bin', 'tap')
const OURS = ['bare-tests.js', 'pace.js'].flatMap(name => ['--require', path.join(__dirname, 'support', name)])
const args = [...OURS, TAP, ...process.argv.slice(2), ...files]
// No test leaves this machine: each process would read some 150 certificates as it starts, which takes 40 ms of CPU
const { NODE_EXTRA_CA_CERTS, ...env } = process.env
const { status, signal } = spawnSync(process.execPath, args, { stdio: 'inherit', env })

/** @type {Map<string, string[]>} where, by why */
const skipped = new Map()
for (const name of fs.readdirSync(RESULTS, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.tap')).sort()) {
  const file = path.join(RESULTS, name)
  if (fs.statSync(file).mtimeMs < startedAt) continue // of an earlier run
  for (const [, title, why] of fs.readFileSync(file, 'utf8').matchAll(SKIPPED)) {
    if (!ELSEWHERE.test(why)) skipped.set(why, [...skipped.get(why) ?? [], `${name.slice(0, -'.tap'.length)}: ${title}`])
  }
}
for (const [why, where] of skipped) console.log([`\nskipped: ${why || 'no reason is given'}`, ...where].join('\n  '))

process.exitCode = signal ? 1 : status ?? 1
