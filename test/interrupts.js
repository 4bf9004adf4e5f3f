'use strict'

/**
 * `npm run interrupts [count]`: asks a worker under load where it is, 10,000 times, in the middle of each kind of work
 * of test/fixtures/interrupted.js. V8 forbids what the addon does then, to call JavaScript: so no answer may differ
 * from those that came before the first interrupt, and the worker must live. Run it by each Node.js.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const path = require('node:path')
const { get } = require('./support/client')
const { startCli, FIXTURES } = require('./support/fleet')
const { NAMES } = require('./fixtures/interrupted')

const APP = path.join(FIXTURES, 'interrupted.js')
const CLIENTS = 4

/** @param {number} wanted */
async function main (wanted) {
  const { port, child, events, exited } = await startCli({ teardown () {} }, ['-w', '1', '-i', '1s', `--node-option=--require=${path.join(FIXTURES, 'counts-tellings.js')}`, APP])
  const { pid } = await events.until('worker.ready')
  /** @type {Map<string, string>} */
  const expected = new Map()
  for (const name of NAMES) expected.set(name, (await get(port, `/${name}`)).body)
  let told = 0
  let requests = 0
  /** @type {string[]} */
  const wrong = []
  const ask = async (/** @type {number} */ first) => {
    for (let i = first; told < wanted && wrong.length === 0; i++) {
      const name = NAMES[i % NAMES.length]
      const { status, body, headers, error } = await get(port, `/${name}`)
      requests++
      told = Math.max(told, Number(headers['x-told'] ?? 0))
      if (status !== 200 || body !== expected.get(name)) wrong.push(`/${name}: ${error ?? status} ${body.slice(0, 80)}`)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, i) => ask(i * 5)))
  const over = new AbortController()
  clients.then(() => over.abort())
  for (let i = 0; !over.signal.aborted; i++) {
    try {
      process.kill(pid, 'SIGURG')
      if (i % 7 === 0) process.kill(pid, 'SIGURG')
    } catch {} // it has died: a request fails
    await sleep(Math.random() < 0.5 ? 0 : 1)
  }
  const ended = [...events.all('worker.crash'), ...events.all('worker.condemn')]
  process.kill(Number(child.pid), 'SIGTERM')
  await exited
  for (const line of [...wrong, ...ended.map(line => JSON.stringify(line))]) console.log(line)
  console.log(`Node.js ${process.version}: told ${told} times where it is, under ${requests} requests; ${wrong.length} wrong answers, ${ended.length} workers ended`)
  process.exitCode = told >= wanted && wrong.length + ended.length === 0 ? 0 : 1
}

main(Number(process.argv[2] ?? 10_000))
