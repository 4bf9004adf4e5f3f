'use strict'

/**
 * npm run test:node -- <folder> [name…]: runs Node's own tests of http, https, http2, net, tls and dgram in a worker, beside the
 * same in a plain cluster's worker, and prints those that pass there and not here. The folder is test/parallel of a checkout of
 * Node of the version that runs; `name` is a part of a file's name. What is different on purpose is in accepted.js.
 *
 * A test that differs is run a second time, with nothing beside it, since a busy machine fails some: only what differs twice is
 * told. Exit code 1 if anything is.
 */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { parseArgs } = require('node:util')
const ACCEPTED = /** @type {Record<string, string>} */ (require('./accepted'))

const BIN = path.join(__dirname, '..', '..', 'bin', 'recycle.js')
const IN_CLUSTER = path.join(__dirname, 'in-cluster.js')
const WANTED = /^test-(http|https|http2|net|tls|dgram)-.*\.m?js$/
const FLAGS = /^\/\/ Flags: (.+)$/m
const JOBS = 2
const TIMEOUT_MS = 30_000
const FIRST_PORT = 12_346 // Node's own, for tests that want one with a number
const TELLING_LINES = 12

/** @typedef {{ isOk: boolean, output: string }} Outcome @typedef {{ file: string, name: string, flags: string[] }} Test */

/**
 * Runs a program to its end, or to the end of its time, and with it all that it has started.
 *
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {(line: string) => boolean | null} judge looks at each line; a verdict ends it
 * @returns {Promise<Outcome>}
 */
function run (args, env, judge) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    /** @type {string[]} */
    const lines = []
    const end = (/** @type {boolean} */ isOk) => {
      clearTimeout(timer)
      child.removeAllListeners('close')
      try {
        process.kill(-Number(child.pid), 'SIGKILL')
      } catch {} // nothing is left of it
      resolve({ isOk, output: lines.slice(-TELLING_LINES).join('\n') })
    }
    const timer = setTimeout(() => {
      lines.push(`not over after ${TIMEOUT_MS / 1000} s`)
      end(false)
    }, TIMEOUT_MS)
    for (const stream of [child.stdout, child.stderr]) {
      readline.createInterface({ input: stream }).on('line', line => {
        const verdict = judge(line)
        if (verdict !== null) end(verdict)
        else if (!line.startsWith('{"level"')) lines.push(line)
      })
    }
    child.once('error', error => {
      lines.push(error.message)
      end(false)
    })
    child.once('close', code => end(code === 0))
  })
}

/** @param {Test} test @param {Record<string, string>} env */
function inCluster ({ file, flags }, env) {
  return run([IN_CLUSTER, file, ...flags], env, () => null)
}

/** The first worker's end is the test's. @param {Test} test @param {Record<string, string>} env */
function inRecycle ({ file, flags }, env) {
  const args = ['--log', 'json', '--control', 'none', '-w', '1', '--ready-timeout', '10m', ...flags.flatMap(flag => ['--node-option', flag])]
  return run([BIN, ...args, file], env, line => {
    const { event, code } = line.startsWith('{"level"') ? JSON.parse(line) : {}
    return event === 'worker.crash' ? code === 0 : null
  })
}

/** @param {string} folder @param {string[]} names @returns {Test[]} */
function findTests (folder, names) {
  const files = fs.readdirSync(folder).filter(name => WANTED.test(name) && (names.length === 0 || names.some(part => name.includes(part))))
  return files.map(name => {
    const file = path.join(folder, name)
    return { file, name: path.parse(name).name, flags: FLAGS.exec(fs.readFileSync(file, 'utf8'))?.[1].trim().split(/\s+/) ?? [] }
  })
}

/** Both, one after the other, in a folder and with a port of their own. @param {Test} test @param {string} folder @param {number} lane */
async function compare (test, folder, lane) {
  const env = { NODE_TEST_DIR: folder, TEST_THREAD_ID: String(lane), NODE_COMMON_PORT: String(FIRST_PORT + 100 * lane) }
  const cluster = await inCluster(test, env)
  return { test, cluster, recycle: cluster.isOk ? await inRecycle(test, env) : null }
}

/** @param {string} text */
function fail (text) {
  console.error(text)
  process.exit(2)
}

/** @returns {{ folder: string, tests: Test[] }} */
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
  return { folder, tests }
}

async function main () {
  const { tests } = readArguments()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'node-tests-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  /** @type {Awaited<ReturnType<typeof compare>>[]} */
  const compared = []
  const queue = [...tests]
  await Promise.all(Array.from({ length: JOBS }, async (_, lane) => {
    for (let test; (test = queue.shift());) {
      compared.push(await compare(test, folder, lane))
      if (process.stdout.isTTY) process.stdout.write(`\r${compared.length} of ${tests.length} `)
    }
  }))
  if (process.stdout.isTTY) process.stdout.write('\n')

  const passing = compared.filter(({ cluster }) => cluster.isOk)
  const suspects = passing.filter(({ recycle }) => !recycle?.isOk)
  const differing = []
  for (const { test } of suspects) {
    const again = await compare(test, folder, 0)
    if (again.recycle && !again.recycle.isOk) differing.push(again)
  }
  const accepted = differing.filter(({ test }) => Object.hasOwn(ACCEPTED, test.name))
  const news = differing.filter(result => !accepted.includes(result))
  for (const { test, recycle } of news) console.log(`${test.name}\n${recycle?.output.replace(/^/gm, '    ')}`)
  for (const { test } of accepted) console.log(`${test.name}: ${ACCEPTED[test.name]}`)
  console.log(`Node ${process.version}: ${tests.length} tests, ${passing.length} pass in plain cluster; of these ${passing.length - differing.length} pass here, ` +
    `${accepted.length} are different on purpose, ${news.length} differ`)
  process.exitCode = news.length > 0 ? 1 : 0
}

main()
