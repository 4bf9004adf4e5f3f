'use strict'

/** The app of fixtures/memory.js, and its clients. */

const { RawClient } = require('./raw-client')

/**
 * A client whose connection is in the worker of this pid; connects until it has one.
 *
 * @param {any} t tap's; the client is closed at its end
 * @param {number} port
 * @param {number} pid
 */
async function clientOf (t, port, pid) {
  for (let i = 0; i < 500; i++) {
    const client = await RawClient.connect(port)
    t.teardown(() => client.close())
    if (pidOf(await client.fetch('/')) === pid) return client
  }
  throw new Error(`no connection of 500 was accepted by ${pid}`)
}

/** The worker that sent this response. @param {import('./raw-client').Response} response */
function pidOf ({ headers }) {
  return Number(headers['x-pid'])
}

/**
 * Sends a request that is held.
 *
 * @param {RawClient} client
 * @param {import('./fleet').Events} told
 * @param {string} [how] `?ms=500`: answered after that
 */
async function hold (client, told, how = '') {
  const count = told.all('held').length + 1
  client.get(`/held${how}`)
  await told.until('held', { count })
}

/** @param {any} supervisor @param {number} slot */
function workerOf (supervisor, slot) {
  return supervisor.status().workers.find((/** @type {any} */ worker) => worker.slot === slot)
}

module.exports = { clientOf, pidOf, hold, workerOf }
