'use strict'

/** A fleet with an admin server, and its metrics. */

const { startFleet } = require('./fleet')
const { get } = require('./client')

/**
 * @param {any} t tap's
 * @param {string} fixture
 * @param {Record<string, any>} [options] of supervise()
 */
async function startAdmin (t, fixture, options = {}) {
  const fleet = await startFleet(t, fixture, { admin: '127.0.0.1:0', ...options })
  const { url } = await fleet.events.until('fleet.admin')
  const adminPort = Number(new URL(url).port)
  return {
    ...fleet, url, adminPort, ask: (/** @type {string} */ path, /** @type {any} */ how) => get(adminPort, path, how)
  }
}

/** One scrape. @param {number} port @returns {Promise<Map<string, number>>} by name and labels, as in the text */
async function scrape (port) {
  const { body } = await get(port, '/metrics')
  const lines = body.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), Number(line.slice(at + 1))]
  }))
}

/**
 * Scrapes until the condition holds: the counts of workers come with their next heartbeat.
 *
 * @param {number} port
 * @param {(metrics: Map<string, number>) => boolean} isSo
 * @returns {Promise<Map<string, number>>} the last scrape
 */
async function scrapeUntil (port, isSo) {
  for (const deadline = Date.now() + 20_000; ;) {
    const metrics = await scrape(port)
    if (isSo(metrics) || Date.now() > deadline) return metrics
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** The sum over all labels. @param {Map<string, number>} metrics @param {string} name */
function sumOf (metrics, name) {
  return [...metrics].filter(([key]) => key.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0)
}

module.exports = { startAdmin, scrape, scrapeUntil, sumOf }
