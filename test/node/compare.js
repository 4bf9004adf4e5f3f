'use strict'

/**
 * Runs programs that test something as the one worker of a plain cluster, and as the one of recycle, and tells those
 * that end well there and not here. What differs is run a second time, with nothing beside it, since a busy machine
 * fails some: only what differs twice is told.
 *
 * @typedef {{ isOk: boolean, output: string }} Outcome
 *
 * @typedef {object} Test
 * @property {string} name
 * @property {string} file
 * @property {string[]} flags of Node
 * @property {string[]} [args]
 * @property {string} [cwd]
 */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')

const BIN = path.join(__dirname, '..', '..', 'bin', 'recycle.js')
const IN_CLUSTER = path.join(__dirname, 'in-cluster.js')
const JOBS = 2
const TIMEOUT_MS = 30_000
const FIRST_PORT = 12_346 // Node's own, for tests that want one with a number
const TELLING_LINES = 12

/**
 * Runs a program to its end, or to the end of its time, and with it all that it has started.
 *
 * @param {string[]} args
 * @param {{ env: Record<string, string>, cwd?: string }} where
 * @param {(line: string) => boolean | null} judge looks at each line; a verdict ends it
 * @returns {Promise<Outcome>}
 */
function run (args, { env, cwd }, judge) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
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
function inCluster ({ file, flags, args = [], cwd }, env) {
  return run([IN_CLUSTER, file, ...flags, '--', ...args], { env, cwd }, () => null)
}

/** The first worker's end is the test's. @param {Test} test @param {Record<string, string>} env */
function inRecycle ({ file, flags, args = [], cwd }, env) {
  const ours = ['--log', 'json', '--control', 'none', '-w', '1', '--ready-timeout', '10m', ...flags.flatMap(flag => ['--node-option', flag])]
  return run([BIN, ...ours, file, ...args], { env, cwd }, line => {
    const ofOurs = line.indexOf('{"level"') // behind what the worker has written without a line's end
    const { event, code } = ofOurs >= 0 ? JSON.parse(line.slice(ofOurs)) : {}
    return event === 'worker.crash' ? code === 0 : null
  })
}

/**
 * Both, one after the other, in a folder and with a port of their own.
 *
 * @param {Test} test @param {string} folder @param {number} lane
 */
async function compare (test, folder, lane) {
  const env = { NODE_TEST_DIR: folder, TEST_THREAD_ID: String(lane), NODE_COMMON_PORT: String(FIRST_PORT + 100 * lane) }
  const cluster = await inCluster(test, env)
  return { test, cluster, recycle: cluster.isOk ? await inRecycle(test, env) : null }
}

/**
 * Prints what differs, and a summary.
 *
 * @param {Test[]} tests
 * @param {Record<string, string>} accepted the names of those that are different on purpose, and why
 * @returns {Promise<boolean>} none differs but those
 */
async function compareAll (tests, accepted) {
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
  const expected = differing.filter(({ test }) => Object.hasOwn(accepted, test.name))
  const news = differing.filter(result => !expected.includes(result))
  for (const { test, recycle } of news) console.log(`${test.name}\n${recycle?.output.replace(/^/gm, '    ')}`)
  for (const { test } of expected) console.log(`${test.name}: ${accepted[test.name]}`)
  console.log(`Node ${process.version}: ${tests.length} tests, ${passing.length} pass in plain cluster; of these ${passing.length - differing.length} pass here, ` +
    `${expected.length} are different on purpose, ${news.length} differ`)
  return news.length === 0
}

/** Ends this program for a bad argument. @param {string} text */
function fail (text) {
  console.error(text)
  process.exit(2)
}

module.exports = { compareAll, fail }
