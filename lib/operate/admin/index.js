'use strict'

/**
 * `--admin`: the state of the fleet, over HTTP.
 *
 *     /          a live page, fed by /events (server-sent events)
 *     /metrics   for Prometheus
 *     /healthz   the supervisor runs
 *     /readyz    enough workers are ready, and no stop has begun
 *     /status    JSON, as printed by `recycle status --json`
 *
 * It reads the journal's lines and the supervisor's status, and cannot change the fleet.
 */

const net = require('node:net')
const { RecycleError } = require('../../core/errors')
const { every } = require('../../native/every')
const { FleetReadiness } = require('./fleet-readiness')
const { Metrics } = require('./metrics')
const { Picture } = require('./picture')
const { REQUEST_MS, createServer, answer } = require('./server')
const { Stream } = require('./stream')
/** @import { Server } from 'node:http' */
/** @import { Supervised } from '../control-verbs' */

const TICK_MS = 1000

/**
 * @param {Supervised} supervisor not started yet, or in the same turn of the event loop
 * @param {{ admin: { host: string, port: number }, adminAllowRemote: boolean }} options
 * @returns {Promise<{ url: string, leave: () => Promise<void>, close: () => Promise<void> }>}
 * @throws {RecycleError} RECYCLE_ADMIN
 */
async function openAdmin (supervisor, { admin, adminAllowRemote }) {
  const readiness = new FleetReadiness(supervisor)
  const { legacy } = supervisor.parts ?? {}
  const metrics = metricsOf(supervisor)
  const picture = new Picture()
  const stream = new Stream()
  /** @type {ReturnType<typeof import('./live-page').renderLivePage> | undefined} */
  let page
  let lookedAt = performance.now()

  const server = createServer({
    '/': response => {
      page ??= require('./live-page').renderLivePage()
      answer(response, 200, page.html, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${page.policy}; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer'
      })
    },
    '/events': response => {
      if (stream.isFull) return answer(response, 503, 'too many pages are open\n')
      const now = timeOfDay()
      const status = supervisor.status()
      stream.send('news', picture.news(now, status)) // else the new page would get them twice
      stream.add(response, 'picture', picture.whole(now, status))
    },
    '/metrics': async response => {
      const ofApp = await supervisor.scrape() // what the primary before has counted is here then
      const text = await metrics.render(supervisor.status()) + ofApp
      await legacy?.tell()
      answer(response, 200, text, { 'content-type': metrics.contentType })
    },
    '/healthz': response => answer(response, 200, 'ok\n'),
    '/readyz': response => {
      const { isReady, text } = readiness.verdict()
      answer(response, isReady ? 200 : 503, `${text}\n`)
    },
    '/status': response =>
      answer(response, 200, `${JSON.stringify(supervisor.status())}\n`, { 'content-type': 'application/json' })
  }, { host: admin.host, isPublic: adminAllowRemote })

  const hear = guarded(line => {
    for (const part of [readiness, picture]) part.hear(line)
  })
  const look = guarded(() => {
    const now = timeOfDay()
    const status = supervisor.status()
    metrics.look(status.workers)
    picture.look(now, status, performance.now() - lookedAt)
    lookedAt = performance.now()
    if (stream.isIdle) picture.catchUp()
    else stream.send('news', picture.news(now, status))
  })

  supervisor.on('event', hear)
  const { succession, handover } = supervisor
  await succession?.takeover.begun
  const address = addressOf(admin.host, admin.port)
  const open = async (/** @type {unknown} */ handle) => {
    const url = await listen(server, admin, handle)
    supervisor.announce('fleet.admin', { url })
    handover?.lendAdmin({ address, handle: server._handle })
    return url
  }
  const inherited = succession?.takeover.takeAdminSocket(address)
  if (succession && inherited) succession.once('serving', () => open(inherited)) // until then the predecessor answers
  else {
    await open(undefined).catch(error => {
      supervisor.removeListener('event', hear)
      throw error
    })
  }
  const endTicks = every(TICK_MS, look)
  /** @type {Promise<void> | undefined} */
  let ending
  const end = (/** @type {number} */ graceMs) => {
    endTicks()
    supervisor.removeListener('event', hear)
    handover?.lendAdmin(null)
    stream.end()
    return new Promise(resolve => {
      // The server's connections do not keep this process, but until they have their answers it stays.
      const grace = setTimeout(() => setImmediate(() => server.closeAllConnections()), graceMs)
      // Not http's own close(): it ends idle connections, to which a request may be on its way, and from Node.js 26 on
      // also those whose first request has not been read yet.
      net.Server.prototype.close.call(server, () => {
        clearTimeout(grace)
        resolve(undefined)
      })
      server.prependListener('request', (request, response) => response.setHeader('connection', 'close'))
    })
  }
  return {
    get url () {
      return urlOf(server, admin)
    },
    /** Another primary answers from now on; the pages that are open connect to it. */
    async leave () {
      await (ending ??= end(REQUEST_MS))
    },
    async close () {
      if (!ending) {
        look()
        stream.send('end', {})
      }
      await (ending ??= end(0))
    }
  }
}

/** @type {WeakMap<Supervised, Metrics>} */
const METRICS = new WeakMap()

/**
 * Metrics count from the fleet's start to its end, also while another primary answers.
 * @param {import('../control-verbs').Supervised} supervisor
 */
function metricsOf (supervisor) {
  const before = METRICS.get(supervisor)
  if (before) return before
  const metrics = new Metrics()
  METRICS.set(supervisor, metrics)
  supervisor.on('event', guarded(line => metrics.hear(line)))
  supervisor.parts?.legacy.add('metrics', metrics)
  return metrics
}

/**
 * The supervisor calls these listeners: an error here must not reach it.
 * @param {(...args: any[]) => void} listener @returns {(...args: unknown[]) => void}
 */
function guarded (listener) {
  return (/** @type {unknown[]} */ ...args) => {
    try {
      listener(...args)
    } catch (error) {
      process.emitWarning(/** @type {Error} */ (error))
    }
  }
}

/** Wall-clock time, like that of the journal's lines. */
function timeOfDay () {
  return Date.now() // eslint-disable-line no-restricted-properties -- a time of day
}

/**
 * @param {Server} server @param {{ host: string, port: number }} admin
 * @param {unknown} [handle] of a socket that listens there already @returns {Promise<string>} its URL
 */
function listen (server, { host, port }, handle) {
  return new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      reject(new RecycleError('RECYCLE_ADMIN',
        { address: addressOf(host, port), why: WHY[error.code ?? ''] ?? error.message }))
    })
    server.listen(handle ?? { host, port }, () => {
      server.on('error', () => {}) // accept() failed for lack of descriptors; clients wait in the queue
      resolve(urlOf(server, { host, port }))
    })
  })
}

/** @param {Server} server @param {{ host: string, port: number }} admin what it was to listen on */
function urlOf (server, { host, port }) {
  const bound = /** @type {import('node:net').AddressInfo | null} */ (server.address())
  return `http://${addressOf(host, bound?.port ?? port)}`
}

/** @type {Record<string, string>} */
const WHY = {
  EADDRINUSE: 'another process listens there already',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ENOTFOUND: 'there is no host of that name'
}

/** @param {string} host @param {number} port */
const addressOf = (host, port) => `${host.includes(':') ? `[${host}]` : host}:${port}`

module.exports = { openAdmin }
