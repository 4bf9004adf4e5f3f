'use strict'

/** wrk and h2load, which count what fails: rolling reloads under each. */

const { spawn } = require('node:child_process')
const { text } = require('node:stream/consumers')
const t = require('tap')
const { extent } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { lacking } = require('../support/program')

const SECONDS = String(extent({ short: 3, long: 120 }))

/**
 * Reloads the fleet until the program ends.
 *
 * @param {any} t tap's
 * @param {string} fixture
 * @param {(port: number) => string[]} command
 * @returns {Promise<string>} what the program has printed
 */
async function reloadUnder (t, fixture, command) {
  const { port, supervisor, events } = await startFleet(t, fixture)
  const [program, ...args] = command(port)
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const printed = text(child.stdout)
  while (child.exitCode === null && child.signalCode === null) await supervisor.reload()
  const recycled = events.all('recycled')
  t.ok(recycled.length >= 2, `${recycled.length} recycles`)
  t.same(recycled.filter(({ cut }) => cut !== 0), [])
  return printed
}

t.test('wrk, with keep-alive, sees no reload', { skip: lacking('wrk') }, async t => {
  const printed = await reloadUnder(t, 'plain.js', port => ['wrk', '-t', '1', '-c', '20', '-d', SECONDS, `http://127.0.0.1:${port}/`])
  t.match(printed, /[1-9]\d* requests in /)
  t.notMatch(printed, /Socket errors|Non-2xx/)
})

// With HTTP/2 it counts each GOAWAY as a failed request, and opens no further connection; test/apps/grpc.test.js has
// clients that do.
t.test('h2load, with HTTP/1.1, sees no reload', { skip: lacking('h2load') }, async t => {
  const printed = await reloadUnder(t, 'plain.js', port => ['h2load', '--h1', '-c', '20', '-D', SECONDS, `http://127.0.0.1:${port}/`])
  t.match(printed, /, 0 failed, 0 errored, 0 timeout/)
  t.match(printed, /[1-9]\d* 2xx, 0 3xx, 0 4xx, 0 5xx/)
})
