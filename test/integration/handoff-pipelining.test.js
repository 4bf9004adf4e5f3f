'use strict'

const t = require('tap')
const { extent } = require('../support/campaign')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient, head } = require('../support/raw-client')

const RECYCLES = extent({ short: 8, long: 20 })

/** Sends batches of pipelined requests on one connection, without end; some in one write, some with a late byte. */
class Pipeliner {
  answered = 0
  /** @type {string[]} */
  failures = []

  /** @param {RawClient} client @param {number} number */
  constructor (client, number) {
    this.client = client
    this.number = number
    this.isStopping = false
    this.done = this.#run().catch(error => { this.failures.push(error.message) })
  }

  async #run () {
    const { client } = this
    while (!this.isStopping) {
      const size = 1 + this.answered % 8
      const paths = Array.from({ length: size }, (_, i) => i % 3 === 1 ? `/late?ms=${i % 4}&${this.answered + i}` : `/echo/${this.answered + i}`)
      const bytes = paths.map(path => head('GET', path)).join('')
      if (this.answered % 2 === 0) client.send(bytes)
      else {
        client.send(bytes.slice(0, -7)) // the rest of the last head is sent in a segment of its own
        await new Promise(setImmediate)
        client.send(bytes.slice(-7))
      }
      const responses = await client.received(size)
      const got = responses.map(({ status, body }) => `${status} ${body}`)
      const meant = paths.map(path => `200 ${path}`)
      if (got.join() !== meant.join()) this.failures.push(`${got} instead of ${meant}`)
      client.responses.length = 0
      this.answered += size
    }
  }
}

t.test('pipelining clients under load keep their connections and their order through repeated recycles', async t => {
  const { port, supervisor, events } = await startTellingFleet(t, 'exchanges.js', { workers: 2 })
  const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(port)))
  const pipeliners = clients.map((client, i) => new Pipeliner(client, i))
  for (let i = 0; i < RECYCLES; i++) checkAccount(t, await supervisor.recycle(i % 2))
  for (const pipeliner of pipeliners) pipeliner.isStopping = true
  await Promise.all(pipeliners.map(pipeliner => pipeliner.done))
  for (const { failures, answered, client } of pipeliners) {
    t.same(failures, [], `of ${answered}`)
    t.ok(answered > 20)
    t.notOk(client.isEnded)
  }
  const moved = events.all('recycled').reduce((sum, line) => sum + line.moved, 0)
  t.ok(moved >= RECYCLES, `${moved} moves`)
  await Promise.all(clients.map(client => client.close()))
})
