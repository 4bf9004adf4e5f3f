'use strict'

/**
 * The command line without a process for each call: one process takes all calls of a test file, one after the other.
 * For calls that end by themselves and start no fleet: help, refusals, and the commands for a running fleet. Real calls
 * are by runToEnd().
 */

require('./bare-children')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')

const TIMEOUT_MS = 30_000

/** @typedef {{ code: number | null, signal: string | null, stdout: string, stderr: string }} Result as of runToEnd() */

/** @type {import('node:child_process').ChildProcess | null} */
let running = null
/** @type {Promise<unknown>} */
let last = Promise.resolve()

/**
 * `recycle …`, to its end, once the calls before have ended.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [how]
 * @returns {Promise<Result>}
 */
function call (args, { env = {}, cwd = process.cwd() } = {}) {
  const result = last.then(() => ask({ args, env, cwd }))
  last = result.catch(() => {})
  return result
}

/** @param {{ args: string[], env: Record<string, string>, cwd: string }} message @returns {Promise<Result>} */
async function ask (message) {
  const child = running ??= start()
  const channel = /** @type {import('node:child_process').Control} */ (child.channel)
  const ended = new AbortController()
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  channel.ref()
  child.send(message)
  try {
    const [result] = await Promise.race([once(child, 'message', ended), once(child, 'exit', ended).then(exit => {
      running = null
      throw new Error(`recycle ${message.args.join(' ')}: its process has ended, ${exit}`)
    })])
    return result
  } finally {
    ended.abort()
    clearTimeout(timer)
    child.unref()
    channel.unref()
  }
}

function start () {
  const child = fork(path.join(__dirname, 'calls-process.js'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  t.teardown(() => {
    child.ref() // the test ends after it
    if (child.connected) child.disconnect()
    return exited
  })
  return child
}

module.exports = { call }
