'use strict'

require('./bare-children') // the test runner's module hooks run in a thread, which a copy would lack
const { fork } = require('node:child_process')
const path = require('node:path')
const { loadAddon } = require('../../lib/native/addon')
const { MoldControl } = require('../../lib/features/fork/forked-process')

const MOLD = path.join(__dirname, '..', 'fixtures', 'mold', 'mold.js')
const EXEC_ARGV = ['--single-threaded', '--v8-pool-size=0']

/** Where molds can be had: a reason to skip, or false. */
const { addon, missing } = loadAddon()

/**
 * Starts a mold and waits until it stands still.
 *
 * @param {import('tap').Test} t
 * @param {string} app of test/fixtures/mold
 */
async function startMold (t, app, { args = [], execArgv = [], stdio = 'pipe' } = {}) {
  const control = new MoldControl(addon)
  const options = { execArgv: [...EXEC_ARGV, ...execArgv], stdio: ['ignore', stdio, stdio, 'ipc', control.inherited] }
  const mold = fork(MOLD, [app, ...args], options)
  control.started()
  const children = new Set()
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
    mold.kill('SIGKILL')
    control.socket.destroy()
  })
  let said = ''
  mold.stderr?.on('data', data => { said += data })
  /** What it said before. */
  const heard = []
  await new Promise((resolve, reject) => {
    mold.on('message', message => message === 'frozen' ? setImmediate(resolve) : heard.push(message))
    mold.once('close', () => reject(new Error(`the mold ended: ${said}`)))
  })

  /** @param {Record<string, string>} [env] */
  function forkOne (env = {}) {
    const child = control.forkBy(() =>
      fork(MOLD, [], { ...options, stdio: options.stdio.slice(0, 4), env: { ...process.env, ...env } }))
    children.add(child)
    const output = { out: '', err: '', messages: [] }
    child.stdout?.on('data', data => { output.out += data })
    child.stderr?.on('data', data => { output.err += data })
    child.on('message', message => output.messages.push(message))
    child.once('exit', () => children.delete(child))
    return Object.assign(child, {
      output,
      /** Its first message. */
      said: new Promise(resolve => child.once('message', resolve)),
      /** How it ended, and all that it had said; where the primary disconnects it there is no `close`. */
      ended: Promise.all([
        new Promise(resolve => child.once('exit', (code, signal) => resolve({ code, signal }))),
        ...[child.stdout, child.stderr].map(stream => new Promise(resolve => stream.once('end', resolve)))
      ]).then(([end]) => ({ ...end, ...output }))
    })
  }
  return { mold, control, heard, forkOne }
}

module.exports = { startMold, skip: missing ?? false }
