'use strict'

/**
 * Deploys of equal code, and of code that is worse in one way each, to a real fleet under load, each with a canary: how
 * often each is found, how soon, and what clients lose beside what the bad code itself does.
 */

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { supervise } = require('../../..')
const { Load } = require('../../support/load')
const { freePort } = require('../../support/fleet')

/**
 * What the new code does beside answering; `costs`: failures that it causes itself, as docs/requests.md has them of a
 * crash.
 */
const KINDS = /** @type {const} */ ({
  equal: { code: '' },
  errors: { code: 'if (Math.random() < 0.05) response.statusCode = 500', costs: ['status 500'] },
  unanswered: { code: 'if (Math.random() < 0.05) return void request.destroy()', costs: ['ECONNRESET'] },
  slow: { code: 'const until = performance.now() + 4; while (performance.now() < until);' },
  exceptions: { code: "if (Math.random() < 0.02) throw new Error('of the new code')", costs: ['status 500'] },
  crashes: { code: 'if (Math.random() < 0.02) process.exit(3)', costs: ['status 502', 'ECONNRESET'] },
  leak: { code: "kept.push(Buffer.alloc(5000).toString('hex'))" }
})

/** @typedef {keyof typeof KINDS} Kind */

/** An app whose requests take some time and make some garbage. @param {Kind} kind */
const source = kind => `'use strict'
const kept = []
require('node:http').createServer((request, response) => {
  if (request.url === '/hangs') return
  ${KINDS[kind].code}
  const rows = Array.from({ length: 100 + Math.random() * 400 }, (_, i) => ({ i, text: 'row ' + i }))
  setTimeout(() => response.end(JSON.stringify(rows)), Math.random() * 5)
}).listen(process.env.PORT)
`

/**
 * Clients that give up, each on a connection of its own, as those of others do not: nearly every request at once, and
 * those that neither code answers after a time-out.
 *
 * @param {number} port
 * @returns {AbortController} ends that
 */
function giveUp (port) {
  const ended = new AbortController()
  const ask = (/** @type {string} */ path, /** @type {number} */ ms) => {
    const request = http.get({ host: '127.0.0.1', port, path, agent: false }, response => response.resume()).on('error', () => {})
    setTimeout(() => request.destroy(), ms)
  }
  const timer = setInterval(() => {
    ask('/', Math.random() * 6)
    ask('/hangs', 500)
  }, 50)
  ended.signal.addEventListener('abort', () => clearInterval(timer))
  return ended
}

/**
 * @param {object} how
 * @param {number} how.deploys of each kind
 * @param {readonly Kind[]} [how.kinds]
 * @param {string} [how.bake]
 * @param {number} [how.workers]
 * @param {(row: { kind: Kind, decidedBy: string | null, isGood: boolean, why: string, afterMs: number }) => void}
 *   [how.onDeploy]
 * @returns {Promise<{ kind: Kind, good: number, bad: number, undecided: number, by: Record<string, number>,
 *   afterMs: number[], requests: number, lost: string[] }[]>} `lost`: failures that the bad code has not caused
 */
async function deploy ({ deploys, kinds = /** @type {Kind[]} */ (Object.keys(KINDS)), bake = '15s', workers = 4, onDeploy = () => {} }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-deploys-'))
  const app = path.join(folder, 'app.js')
  const rows = []
  for (const kind of kinds) {
    fs.writeFileSync(app, source('equal'))
    process.env.PORT = String(await freePort())
    const supervisor = supervise({ app, workers, stopLinger: '0' })
    await supervisor.ready()
    const load = new Load({ port: Number(process.env.PORT), connections: 60, thinkMs: 100 })
    const impatience = giveUp(Number(process.env.PORT))
    /** @type {Record<string, any>[]} */
    const verdicts = []
    supervisor.on('event', line => { if (line.event === 'canary.verdict') verdicts.push(line) })
    /** @type {number[]} */
    const afterMs = []
    for (let i = 0; i < deploys; i++) {
      fs.writeFileSync(app, source(kind))
      const began = performance.now()
      await supervisor.reload({ canary: 1, bake }).catch(error => { if (!['RECYCLE_REJECTED', 'RECYCLE_UNDECIDED'].includes(error.code)) throw error })
      afterMs.push(performance.now() - began)
      const { decidedBy, isGood, why } = verdicts.at(-1) ?? { decidedBy: 'start', isGood: false, why: 'it did not start' }
      onDeploy({ kind, decidedBy, isGood, why, afterMs: Math.round(Number(afterMs.at(-1))) })
      fs.writeFileSync(app, source('equal'))
      if (isGood && kind !== 'equal') await supervisor.reload() // missed: what follows is to be compared with good code
    }
    impatience.abort()
    const { requests, failures } = await load.stop()
    await supervisor.stop({ now: true })
    const of = (/** @type {string} */ verdict) => verdicts.filter(line => line.verdict === verdict).length
    /** @type {Record<string, number>} */
    const by = {}
    for (const { decidedBy, verdict } of verdicts) if (verdict === 'bad') by[decidedBy ?? 'start'] = (by[decidedBy ?? 'start'] ?? 0) + 1
    /** @type {readonly string[]} */
    const costs = 'costs' in KINDS[kind] ? KINDS[kind].costs : []
    const lost = failures.map(({ error }) => error).filter(error => !costs.includes(error))
    rows.push({ kind, good: of('good'), bad: of('bad'), undecided: of('undecided'), by, afterMs, requests, lost })
  }
  fs.rmSync(folder, { recursive: true })
  return rows
}

module.exports = { deploy, KINDS }
