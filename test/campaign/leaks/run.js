'use strict'

/** Studies of apps that leak and of some that do not, in each language: whether the right line is found. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { supervise } = require('../../..')
const { freePort } = require('../../support/fleet')
const { APPS, compareLeak, writeApp } = require('../../support/leaking-apps')
const { Load } = require('../../support/load')

/**
 * @typedef {import('../../support/leaking-apps').Language} Language
 * @typedef {'right' | 'not found' | 'false'} Found
 */
/**
 * @typedef {{ app: string, language: Language, found: Found, named: string, verdict: string, requests: number,
 *   failures: number }} Tried
 */

const TRIES = 3
const REPOSITORY = path.join(__dirname, '../../..')

/**
 * @param {object} how
 * @param {Language[]} how.languages
 * @param {(app: string) => boolean} how.only
 * @param {number} how.forMs of a study
 * @param {'spawn' | 'mold'} how.fork
 * @param {(tried: Tried) => void} how.onTried
 * @returns {Promise<Tried[]>}
 */
async function studyLeaks ({ languages, only, forMs, fork, onTried }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-leaks-'))
  /** @type {Tried[]} */
  const all = []
  try {
    for (const app of Object.keys(APPS).filter(only)) {
      for (const language of languages) {
        const tried = await study(path.join(folder, `${all.length}`), app, language, { forMs, fork })
        all.push(tried)
        onTried(tried)
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
  return all
}

/**
 * @param {string} folder @param {string} app @param {Language} language
 * @param {{ forMs: number, fork: 'spawn' | 'mold' }} how
 * @returns {Promise<Tried>}
 */
async function study (folder, app, language, { forMs, fork }) {
  const written = writeApp(folder, app, language)
  fs.mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
  fs.symlinkSync(path.join(REPOSITORY, 'node_modules/tsx'), path.join(folder, 'node_modules/tsx'))
  const port = await freePort()
  process.env.PORT = String(port)
  const supervisor = supervise({ app: written.file, workers: 2, fork, stopLinger: '200ms', nodeOption: language === 'ts' ? [`--import=${path.join(REPOSITORY, 'node_modules/tsx/dist/esm/index.mjs')}`] : [] })
  try {
    await supervisor.ready()
    // A connection may stay with the other worker for all of a short study.
    const loads = [
      new Load({ port, connections: 3, thinkMs: 4 }), new Load({ port, connections: 3, thinkMs: 4, keepAlive: false })
    ]
    let result = await supervisor.leak(0, { forMs })
    // The machine is busy
    for (let tries = 1; tries < TRIES && result.verdict === 'few'; tries++) result = await supervisor.leak(0, { forMs: 2 ** tries * forMs })
    const failures = (await Promise.all(loads.map(load => load.stop()))).flatMap(({ failures }) => failures)
    const [worst] = result.outcome.found.filter((/** @type {any} */ { isSure, isGrowing }) => isSure && isGrowing)
    return {
      app,
      language,
      found: compareLeak(result, { ...written, verdict: APPS[app].verdict }),
      named: worst ? `${worst.at.name} ${path.basename(worst.at.file)}:${worst.at.line}, ${Math.round(100 * worst.share)} %` : '',
      verdict: result.verdict,
      requests: result.requests,
      failures: failures.length
    }
  } finally {
    await supervisor.stop({ now: true })
  }
}

/** @param {Tried[]} tried @returns {string} a table in Markdown */
function leakTable (tried) {
  const languages = [...new Set(tried.map(({ language }) => language))]
  const rows = [...new Set(tried.map(({ app }) => app))].map(app => [app, ...languages.map(language => tried.find(one => one.app === app && one.language === language)?.found ?? '')])
  const count = (/** @type {Found} */ what) => tried.filter(({ found }) => found === what).length
  return [
    `| leak | ${languages.join(' | ')} |`, `|---|${languages.map(() => '---|').join('')}`, ...rows.map(row => `| ${row.join(' | ')} |`), '',
    `${process.version}: ${count('right')} right, ${count('not found')} not found, ${count('false')} false; ${tried.reduce((sum, { failures }) => sum + failures, 0)} requests failed`
  ].join('\n')
}

module.exports = { studyLeaks, leakTable }
