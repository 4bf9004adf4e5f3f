'use strict'

/** Fleets under load, and new code for them, for tests of a reload that tries it in one worker first. */

const fs = require('node:fs')
const path = require('node:path')
const { startFleet } = require('./fleet')
const { Load } = require('./load')

const OPTIONS = { workers: 2, interval: '500ms', stopLinger: '0' }

const CODE = {
  good: "response.end('good')",
  better: "response.end('better')",
  cut: "if (Math.random() < 0.4) { response.writeHead(200, { 'content-length': 99 }).write('cut'); setImmediate(() => response.destroy()) } else response.end('cut')",
  slow: "setTimeout(() => response.end('slow'), 50)"
}
/** @param {keyof typeof CODE} name */
const source = name => `require('node:http').createServer((request, response) => { ${CODE[name]} }).listen(process.env.PORT)`

/**
 * Some 350 requests a second in all: on a busy machine, too, each code has more than three times as many as a verdict
 * needs.
 */
const LOAD = { connections: 80, thinkMs: 450 }
/** Where nothing is judged. */
const LITTLE = { connections: 20, thinkMs: 300 }

/**
 * A fleet of an app whose code is in the file, under load.
 *
 * @param {any} t @param {Record<string, any>} [options] @param {typeof LOAD} [how]
 */
async function start (t, options = {}, how = LITTLE) {
  const app = path.join(fs.realpathSync(t.testdir({ 'app.js': source('good') })), 'app.js')
  const fleet = await startFleet(t, app, { ...OPTIONS, ...options })
  return {
    ...fleet, load: loadOf(t, fleet.port, how), write: (/** @type {string} */ text) => fs.writeFileSync(app, text)
  }
}

/** @param {any} t tap's @param {number} port @param {typeof LOAD} [how] */
function loadOf (t, port, how = LOAD) {
  const load = new Load({ port, ...how })
  t.teardown(() => load.stop())
  return load
}

module.exports = { LITTLE, LOAD, OPTIONS, source, start, loadOf }
