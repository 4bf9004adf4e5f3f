'use strict'

/** What tests of studies of leaks have in common. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { APPS, writeApp } = require('./leaking-apps')

const INLINES_NOTHING = '--no-turbo-inlining'

/** Some 190 requests a second, with long think times: a busy machine does not slow them down much. */
const LOAD = { connections: 24, thinkMs: 240 }

/** @param {any} t tap's @param {string} name @param {import('../support/leaking-apps').Language} [language] */
function app (t, name, language = 'cjs') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-leak-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  return { ...writeApp(folder, name, language), verdict: APPS[name].verdict, folder }
}

/** @param {number} pid @returns {string} its command line */
const commandOf = pid => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')

/** Every slot has an ordinary worker. @param {any} t tap's @param {Record<string, any>} status */
function allOrdinary (t, { workers, leakStudies }) {
  t.equal(leakStudies.study, null)
  for (const { pid, state } of workers.filter((/** @type {any} */ { state }) => state === 'ready')) {
    t.equal(state, 'ready')
    if (process.platform === 'linux') t.notMatch(commandOf(pid), INLINES_NOTHING)
  }
}

/**
 * As long as the study says that its requests were too few, a longer one: the machine may be busy.
 *
 * @param {any} supervisor @param {number} slot
 */
async function study (supervisor, slot) {
  for (let forMs = 5000; ; forMs *= 2) {
    const result = await supervisor.leak(slot, { forMs })
    if (result.verdict !== 'few' || forMs >= 40_000) return result
  }
}

/** @param {any} t tap's @param {Load} load */
async function nothingFailed (t, load) {
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(sockets, load.clients.length, 'no client reconnected')
}

module.exports = { INLINES_NOTHING, LOAD, allOrdinary, app, commandOf, nothingFailed, study }
