'use strict'

const t = require('tap')
const { extent } = require('../support/campaign')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

// Clients and primary are one process here, which holds each connection twice for a moment: 20,000 descriptors are
// enough.
const CONNECTIONS = extent({ short: 2000, long: 10_000 })
const BATCH = 200
const MB = 1024 * 1024

t.setTimeout(120_000)

/** @param {number} bytes */
const mb = bytes => `${Math.round(bytes / MB)} MB`

/** In batches, so that no queue overflows. @param {(i: number) => Promise<any>} work */
async function inBatches (work) {
  for (let from = 0; from < CONNECTIONS; from += BATCH) {
    await Promise.all(Array.from({ length: Math.min(BATCH, CONNECTIONS - from) }, (_, i) => work(from + i)))
  }
}

t.test(`${CONNECTIONS} idle connections move at once, and each is served afterwards`, async t => {
  const { port, supervisor } = await startTellingFleet(t, 'exchanges.js')
  /** @type {RawClient[]} */
  const clients = []
  await inBatches(async i => {
    const client = await RawClient.connect(port)
    clients.push(client)
    if (i % 10 > 0) await client.fetch('/') // each tenth is silent
  })
  const rssOfBoth = process.memoryUsage.rss()
  const line = await supervisor.recycle(0)
  checkAccount(t, line)
  t.equal(line.moved, CONNECTIONS)
  t.comment(`${CONNECTIONS} connections moved in ${line.drainMs} ms; old worker ${mb(line.rssBefore)}, new worker ${mb(line.rssAfter)}, primary and clients ${mb(rssOfBoth)}, then ${mb(process.memoryUsage.rss())}`)
  t.equal(clients.filter(client => client.isEnded).length, 0, 'all connections are still open')

  const wrong = []
  await inBatches(async i => {
    const path = `/echo/${i}`
    const { status, headers, body } = await clients[i].fetch(path)
    if (status !== 200 || String(body) !== path || Number(headers['x-pid']) !== line.pid) wrong.push(`${status} ${body}`)
  })
  t.same(wrong, [])
  await inBatches(i => clients[i].close())
})
