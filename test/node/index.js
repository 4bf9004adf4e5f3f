'use strict'

/**
 * npm run test:node -- <folder> [name…]: runs Node's own tests of http, https, http2, net, tls and dgram in a worker,
 * beside the same in a plain cluster's worker, and prints those that pass there and not here. The folder is
 * test/parallel of a checkout of Node of the version that runs; `name` is a part of a file's name. What is different on
 * purpose is in accepted.js.
 *
 * Exit code 1 if anything differs.
 */

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const ACCEPTED = /** @type {Record<string, string>} */ (require('./accepted'))
const { compareAll, fail } = require('./compare')

const WANTED = /^test-(http|https|http2|net|tls|dgram)-.*\.m?js$/
const FLAGS = /^\/\/ Flags: (.+)$/m

/** @typedef {import('./compare').Test} Test */

/** @param {string} folder @param {string[]} names @returns {Test[]} */
function findTests (folder, names) {
  const files = fs.readdirSync(folder)
    .filter(name => WANTED.test(name) && (names.length === 0 || names.some(part => name.includes(part))))
  return files.map(name => {
    const file = path.join(folder, name)
    return { file, name: path.parse(name).name, flags: FLAGS.exec(fs.readFileSync(file, 'utf8'))?.[1].trim().split(/\s+/) ?? [] }
  })
}

/** @returns {Test[]} */
function readArguments () {
  const { positionals: [folder, ...names] } = parseArgs({ allowPositionals: true, strict: false })
  if (folder === undefined) fail('no folder given: npm run test:node -- <folder> [name…], where the folder is test/parallel of a checkout of Node')
  const tests = []
  try {
    tests.push(...findTests(path.resolve(folder), names))
  } catch (error) {
    fail(`${folder} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
  if (tests.length === 0) fail(`${folder} has no such tests: their names begin with test-http-, test-https-, test-http2-, test-net-, test-tls- or test-dgram-${names.length ? `, and have ${names.join(' or ')} in them` : ''}`)
  return tests
}

compareAll(readArguments(), ACCEPTED).then(isSame => { process.exitCode = isSame ? 0 : 1 })
