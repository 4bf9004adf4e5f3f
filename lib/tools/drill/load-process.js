'use strict'

/**
 * A process that makes load. It is separate from the primary, whose event loop is part of the test. It receives `plan`,
 * `start`, `stopping` and `end`, and sends `up`, `ticks`, `warned` and `done`.
 */

const { Swarm } = require('./swarm')
const { Tally, BUCKET_MS } = require('./tally')
const { now } = require('./clock')

const tally = new Tally()
/** @type {import('./client').Drop[]} */
let drops = []
/** @type {Swarm} */
let swarm

/** @type {Record<string, (message: any) => void>} */
const handlers = {
  plan ({ plan }) {
    swarm = new Swarm({ ...plan, body: plan.body === null ? null : Buffer.from(plan.body, 'base64') }, {
      answered: latencyMs => tally.answered(now(), latencyMs),
      dropped (drop) {
        tally.dropped(drop.t)
        drops.push(drop)
      }
    })
    say('up')
  },
  start () {
    const timer = setInterval(() => report(now()), BUCKET_MS)
    swarm.finished.then(() => {
      clearInterval(timer)
      report(Infinity)
      say('done', { sockets: swarm.sockets })
    })
    swarm.start()
  },
  stopping () {
    swarm.announceStop()
    say('warned')
  },
  end: () => swarm.end()
}

/** @param {number} t */
function report (t) {
  say('ticks',
    { ticks: tally.take(t), drops, before: Number.isFinite(t) ? Math.floor(t / BUCKET_MS) * BUCKET_MS : null })
  drops = []
}

/** @param {string} type @param {Record<string, unknown>} [fields] */
function say (type, fields) {
  process.send?.({ type, ...fields })
}

process.on('message', (/** @type {any} */ message) => handlers[message.type](message))
process.on('disconnect', () => process.exit())
// To the whole group: for the drill alone
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
