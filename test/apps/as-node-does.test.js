'use strict'

/**
 * What Node's own tests ask of dgram, net, http, https, tls and http2, in a worker and in plain Node. All of Node's:
 * test/node.
 */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const t = require('tap')
const { startFleet, freePort } = require('../support/fleet')
const { appFile } = require('./under-load')

/** @returns {Promise<{ outcomes: Record<string, string>, end: any[] }>} */
async function inPlainNode () {
  const child = fork(appFile('as-node-does.js'), { env: { ...process.env, PORT: String(await freePort()) } })
  const ended = once(child, 'exit')
  const [{ outcomes }] = await once(child, 'message')
  return { outcomes, end: await ended }
}

t.test('a worker does what plain Node does', async t => {
  const plain = await inPlainNode()
  const { told, events } = await startFleet(t, appFile('as-node-does.js'), { workers: 1 })
  const { outcomes, pid } = await told.until('outcomes')
  t.ok(Object.keys(plain.outcomes).length >= 12)
  for (const [name, outcome] of Object.entries(plain.outcomes)) {
    t.equal(outcome, 'ok', `plain Node: ${name}`)
    t.equal(outcomes[name], 'ok', name)
  }
  const { code, signal } = await events.until('worker.crash', { where: line => line.pid === pid })
  t.same([code, signal], plain.end, 'a server that is not referenced keeps it alive no longer')
})
