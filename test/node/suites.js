'use strict'

/**
 * npm run test:suites -- <folder>…: runs the test files of other projects in a worker, beside the same in a plain
 * cluster's worker, and prints those that pass there and not here. Each folder is a checkout with its dependencies
 * installed (npm install), of a project that tests by mocha or by node:test, such as ws. A file that fails in plain
 * cluster too is counted, and says nothing.
 *
 * Exit code 1 if anything differs.
 */

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { compareAll, fail } = require('./compare')

const TEST_FILE = /\.(?:test|spec)\.[cm]?[jt]s$/
const FOLDERS = ['test', '__tests__']
const KNOWN_PORTS = `--require=${path.join(__dirname, 'known-ports.js')}`

/** @param {string} folder @returns {import('./compare').Test[]} */
function findTests (folder) {
  const mocha = path.join(folder, 'node_modules', 'mocha', 'bin', '_mocha')
  const { name, scripts } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const usesMocha = fs.existsSync(mocha)
  const required = [...(scripts?.test ?? '').matchAll(/(?:--require|-r) (\S+)/g)].flatMap(([, file]) => ['--require', file])
  const files = FOLDERS.flatMap(sub => fs.existsSync(path.join(folder, sub))
    ? fs.readdirSync(path.join(folder, sub), { recursive: true }).map(file => path.join(sub, String(file)))
    : [])
  const named = files.filter(file => TEST_FILE.test(file))
  // Where no file is named as a test, all of them are, as mocha takes them.
  const tests = named.length > 0 ? named : files.filter(file => path.dirname(file) !== path.join('test', 'support') && /(?<!\.test-d)\.[cm]?[jt]s$/.test(file))
  return tests.filter(file => !file.includes('fixtures')).sort().map(file => usesMocha
    ? { name: `${name} ${file}`, file: mocha, flags: [KNOWN_PORTS], args: ['--exit', ...required, file], cwd: folder }
    // Where a test of the file has failed, its server keeps the process alive for ever.
    : { name: `${name} ${file}`, file: path.join(folder, file), flags: [KNOWN_PORTS, '--test-force-exit'], cwd: folder })
}

const { positionals: folders } = parseArgs({ allowPositionals: true, strict: false })
if (folders.length === 0) fail('no folder given: npm run test:suites -- <folder>…, each a checkout of a project, with its dependencies installed')
const tests = folders.flatMap(folder => {
  try {
    return findTests(path.resolve(folder))
  } catch (error) {
    return fail(`${folder} is no checkout of a project: ${/** @type {Error} */ (error).message}`) ?? []
  }
})
if (tests.length === 0) fail(`there are no test files in ${folders.join(', ')}`)
compareAll(tests, {}).then(isSame => { process.exitCode = isSame ? 0 : 1 })
