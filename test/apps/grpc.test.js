'use strict'

/** A gRPC service and gRPC clients, which answer GOAWAY by a new connection: rolling reloads under their calls. */

const { Client, credentials } = require('@grpc/grpc-js')
const { setTimeout: sleep } = require('node:timers/promises')
const t = require('tap')
const { DOUBLE } = require('../fixtures/grpc-service')
const { extent } = require('../support/campaign')
const { startApp } = require('./under-load')

const RELOADS = extent({ short: 2, long: 30 })
const CLIENTS = extent({ short: 4, long: 10 })
const THINK_MS = extent({ short: 50, long: 0 }) // between an answer and the next call, up to
const CALLS = 5 // at a time, of each client

/** Calls until it is stopped. */
class GrpcLoad {
  calls = 0
  /** @type {string[]} */
  failures = []
  /** @type {Set<number>} */
  pids = new Set()
  #isOver = false

  /** @param {number} port */
  constructor (port) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })
    this.done = Promise.all(Array.from({ length: CALLS }, () => this.#call()))
  }

  async #call () {
    while (!this.#isOver) {
      const n = this.calls++
      await /** @type {Promise<void>} */ (new Promise(resolve => {
        this.client.makeUnaryRequest(DOUBLE.path, DOUBLE.requestSerialize, DOUBLE.responseDeserialize, { n },
          (error, answer) => {
            if (error) this.failures.push(`${error.code}: ${error.details}`)
            else if (answer.n !== 2 * n) this.failures.push(`${n}: ${JSON.stringify(answer)}`)
            else this.pids.add(answer.pid)
            resolve()
          })
      }))
      if (THINK_MS) await sleep(Math.random() * THINK_MS)
    }
  }

  async stop () {
    this.#isOver = true
    await this.done
    this.client.close()
  }
}

t.test('gRPC clients of a gRPC service see no reload', async t => {
  const { port, supervisor, events } = await startApp(t, 'grpc.js', { workers: 2, maxRequests: undefined })
  const loads = Array.from({ length: CLIENTS }, () => new GrpcLoad(port))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 0; i < RELOADS; i++) await supervisor.reload()
  await Promise.all(loads.map(load => load.stop()))
  const calls = loads.reduce((sum, load) => sum + load.calls, 0)
  t.same(loads.flatMap(({ failures }) => failures), [], `${RELOADS} reloads, none of ${calls} calls failed`)
  t.ok(calls > 100 * RELOADS)
  const recycled = events.all('recycled')
  t.equal(recycled.length, 2 * RELOADS)
  t.same(recycled.filter(({ cut, lost }) => cut > 0 || lost), [])
  t.ok(loads.every(({ pids }) => pids.size > 1), 'each client has had another worker')
})
