'use strict'

const { once } = require('node:events')
const { performance } = require('node:perf_hooks')
const t = require('tap')
const { Observer } = require('../../../lib/features/canary/worker')
const { received, workerParts } = require('../../support/worker-parts')

/** Answers, or does not, as the path says. @type {import('node:http').RequestListener} */
function answer (request, response) {
  switch (request.url) {
    case '/destroyed': return void request.destroy()
    case '/cut':
      response.writeHead(200, { 'content-length': 1000 }).write('half')
      return void setImmediate(() => response.destroy())
    case '/events': return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    case '/hangs': return
    case '/moved': return void response.writeHead(302, { location: '/login' }).end('moved')
    case '/empty': return void response.end()
    case '/empty-chunked': return void response.writeHead(200).end()
    case '/none': return void response.writeHead(204).end()
    default: response.end('answered')
  }
}

t.test('what a worker counts of real requests', async t => {
  const parts = await workerParts(t, answer)
  const { channel, tracker, receive } = parts
  const observer = new Observer(/** @type {any} */ ({ channel, tracker, onCollected: () => () => {} }))
  const { now } = performance
  let aheadMs = 0
  performance.now = () => now.call(performance) + aheadMs
  t.teardown(() => { performance.now = now })

  const ask = async (/** @type {string} */ path) => {
    const { client, connection } = await parts.connect()
    const begun = once(tracker, 'request')
    client.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`)
    await begun
    return { client, connection }
  }
  /** @param {string} path @param {(asked: Awaited<ReturnType<typeof ask>>) => unknown} [then] */
  const ended = async (path, then = ({ client }) => client.resume()) => {
    const gone = once(tracker, 'gone')
    await then(await ask(path))
    await gone
  }
  const begin = (/** @type {any} */ thresholds = { medianMs: 2000, tailMs: 5000 }) => receive.observe({ thresholds })
  /** As a heartbeat tells it, a second after the latest. */
  const counts = () => {
    parts.sent.length = 0
    aheadMs += 1000
    observer.beat()
    return parts.all('observe')[0].counts
  }

  await t.test('a response that is not finished: the app ends it, before or after its head, or a client that has waited long; not one that gives up soon', async t => {
    begin()
    await ended('/destroyed')
    await ended('/cut')
    await ended('/hangs', ({ client }) => client.destroy())
    await ended('/hangs', ({ client }) => client.end())
    await ended('/hangs', ({ client }) => client.resetAndDestroy())
    await ended('/hangs', ({ client }) => {
      aheadMs += 6000
      client.destroy()
    })
    const { client } = await ask('/')
    await received(client, 'answered')
    t.match(counts(), { requests: 4, of: { unfinished: 3, errors: 0, slowTail: 0 } })
    receive.observe({ thresholds: null, isOver: true })
  })

  await t.test('a redirect, and 200 without a body; not 204', async t => {
    begin()
    const leaves = async (/** @type {Awaited<ReturnType<typeof ask>>} */ { client }) => {
      await once(client, 'data')
      client.end()
    }
    for (const path of ['/moved', '/empty', '/empty-chunked', '/none', '/']) await ended(path, leaves)
    t.match(counts(), { requests: 5, of: { empty: 3, refusals: 0, errors: 0 } })
  })

  await t.test('a request that waits still is slow by its age, once that is above the threshold, also one of the warm-up; a stream of events is not', async t => {
    begin(null)
    await ask('/hangs')
    begin()
    await ask('/hangs')
    await received((await ask('/events')).client, 'data: 1')
    t.match(counts(), { requests: 0 })
    aheadMs += 6000
    for (let i = 0; i < 2; i++) t.match(counts(), { requests: 2, connections: 2, of: { slowMedian: 2, slowTail: 2, unfinished: 0 } }, 'once each')
    await ended('/events', async ({ client }) => {
      await received(client, 'data: 1')
      client.destroy()
    })
    t.match(counts(), { requests: 2, of: { unfinished: 0 } })
    receive.observe({ thresholds: null, isOver: true })
  })

  await t.test('not what has waited since before, nor what this worker cuts as it leaves', async t => {
    begin()
    await ended('/hangs', ({ connection }) => connection.close('cut'))
    t.match(counts(), { requests: 0, of: { unfinished: 0, slowTail: 0 } })
  })

  await t.test('nor what came just before, whose time was not read', async t => {
    receive.observe({ thresholds: null, isOver: true })
    await ask('/hangs')
    begin()
    aheadMs += 6000
    t.match(counts(), { requests: 0, of: { slowTail: 0 } })
  })
})
