'use strict'

/** The same test for every kind of app: under load, recycles by budget and a reload drop nothing. */

const path = require('node:path')
const { extent } = require('../support/campaign')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { Load } = require('../support/load')

const RECYCLES = extent({ short: 1, long: 8 })
// A connection that leaves its worker goes to the replacement, or to another one
const WORKERS = extent({ short: 1, long: 2 })
const CONNECTIONS = extent({ short: 5, long: 10 })

/** An app of test/fixtures/apps. @param {string} name */
const appFile = name => path.join(__dirname, '..', 'fixtures', 'apps', name)

/**
 * A fleet whose workers are replaced every `maxRequests` requests, if it is set.
 *
 * @param {any} t tap's
 * @param {string} app of test/fixtures/apps
 * @param {Record<string, any>} [options] of supervise()
 */
async function startApp (t, app, options = {}) {
  return startFleet(t, appFile(app), { workers: WORKERS, maxRequests: 50, jitter: 0, ...options })
}

/**
 * Lets a fleet recycle by its budget, then reload, both under load; ends the load and checks the results.
 *
 * @param {any} t tap's
 * @param {{ events: any, supervisor: any }} fleet
 * @param {Load[]} loads running ones
 * @param {{ reason?: string, recycles?: number, hasHandoff?: boolean }} [how] the expected reason, and whether
 *   connections move
 */
async function endure (t, { events, supervisor }, loads, { reason = 'requests', recycles = RECYCLES, hasHandoff = true } = {}) {
  await events.until('recycled', { count: recycles, where: (/** @type {any} */ line) => line.reason === reason })
  await supervisor.reload()
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(failures, [], `none of ${requests} requests failed`)
    t.ok(requests > 0)
    if (hasHandoff && load instanceof Load && load.keepsAlive && !load.isSecure) t.equal(load.sockets, load.clients.length, 'no client ever reconnected')
  }
  checkRecycles(t, events)
}

/**
 * No recycle cut or lost a connection, every audit adds up, no worker crashed.
 *
 * @param {any} t tap's @param {any} events
 */
function checkRecycles (t, events) {
  const recycles = events.all('recycled')
  const isClean = (/** @type {any} */ line) =>
    line.cut === 0 && line.unacked === 0 && !line.lost && sumOfEnds(line) === line.connections
  t.same(recycles.filter((/** @type {any} */ line) => !isClean(line)), [], `${recycles.length} recycles cut nothing, and their audits add up`)
  t.same(events.all('worker.crash'), [], 'no worker crashed')
}

/**
 * The whole test, for an app that listens on PORT.
 *
 * @param {any} t tap's
 * @param {string} app
 * @param {{ options?: Record<string, any>, load?: Record<string, any>, reason?: string, recycles?: number }} [how]
 */
async function surviveRecycles (t, app, { options, load, ...how } = {}) {
  const fleet = await startApp(t, app, options)
  await endure(t, fleet, [new Load({ port: fleet.port, connections: CONNECTIONS, ...load })], {
    hasHandoff: options?.handoff !== false, ...how
  })
  return fleet
}

module.exports = { startApp, endure, checkRecycles, surviveRecycles, appFile }
