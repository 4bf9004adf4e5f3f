'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const t = require('tap')

const PROGRAM = `
  const { holdSignals } = require(${JSON.stringify(require.resolve('../../../lib/worker/leaving/hold-signals'))})
  const signals = holdSignals()
  if (process.argv[1] === 'heeds') for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) process.on(s, () => process.send('app heard ' + s))
  process.once('SIGUSR2', () => process.send('app heard SIGUSR2'))
  process.on('message', what => {
    if (what === 'release') signals.release(() => {})
    process.send(what)
  })
  process.send('up')
`

/** @param {any} t @param {string} kind `heeds`: the app has its own listeners */
async function start (t, kind) {
  const child = spawn(process.execPath, ['-e', PROGRAM, kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  /** @type {string[]} */
  const heard = []
  child.on('message', message => heard.push(String(message)))
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return { child, heard }
}

/**
 * Resolves when the worker has sent this message.
 *
 * @param {{ child: any, heard: string[] }} worker @param {string} what
 */
async function until ({ child, heard }, what) {
  while (!heard.includes(what)) await once(child, 'message')
}

/**
 * Resolves when everything sent before has been delivered.
 *
 * @param {{ child: any, heard: string[] }} worker @param {string} what
 */
async function ask (worker, what) {
  worker.child.send(what)
  await until(worker, what)
}

for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'])) {
  t.test(`while signals are held ${signal} neither ends the worker nor reaches the app`, async t => {
    const worker = await start(t, 'heeds')
    const { child, heard } = worker
    child.kill(signal)
    child.kill('SIGUSR2') // another signal, which the app receives: by then the first one has been delivered
    await until(worker, 'app heard SIGUSR2')
    await ask(worker, 'ping')
    t.same(heard.filter(text => text.startsWith('app heard')), ['app heard SIGUSR2'])
    t.equal(child.exitCode ?? child.signalCode, null)
  })

  t.test(`once they are released the app receives ${signal}`, async t => {
    const worker = await start(t, 'heeds')
    const { child } = worker
    await ask(worker, 'release')
    child.kill(signal)
    await until(worker, `app heard ${signal}`)
    t.equal(child.exitCode, null, 'and the app decides')
  })

  t.test(`once they are released ${signal} ends an app without a listener`, async t => {
    const worker = await start(t, 'silent')
    const { child } = worker
    child.kill(signal)
    child.kill('SIGUSR2') // else the first one may be delivered after the release, and meet the second
    await until(worker, 'app heard SIGUSR2')
    await ask(worker, 'ping')
    t.equal(child.signalCode, null, 'not before')
    await ask(worker, 'release')
    child.kill(signal)
    const [code, by] = await once(child, 'exit')
    t.same([code, by], signal === 'SIGTERM' ? [0, null] : [null, signal], 'SIGTERM by process.exit()')
  })
}

t.test('what is a verb to the primary neither ends nor stops the worker, and reaches the app that listens for it', async t => {
  const silent = await start(t, 'silent')
  for (const signal of /** @type {const} */ (['SIGTTIN', 'SIGTTOU', 'SIGUSR1', 'SIGUSR2', 'SIGUSR2'])) {
    silent.child.kill(signal)
    await ask(silent, `after ${signal}`)
  }
  await until(silent, 'app heard SIGUSR2') // a signal may come behind a message that was sent later
  await ask(silent, 'release')
  silent.child.kill('SIGUSR2')
  await ask(silent, 'ping')
  t.equal(silent.child.signalCode, null, 'also while it leaves')
})
