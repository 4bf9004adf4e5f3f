'use strict'

/**
 * Many clients with a WebSocket each, in a process of their own: `node web-socket-load.js <options as JSON>`. Prints
 * `open` when all are connected, and, when its stdin ends, what they have had. A client whose connection is closed
 * comes back within a second, as clients do.
 */

const { performance } = require('node:perf_hooks')
const { setTimeout: passed } = require('node:timers/promises')
const { percentiles } = require('./statistics')
const { WebSocketClient } = require('./web-socket-client')

const AT_ONCE = 200 // handshakes
const BACK_MS = 1000

const { port, connections, everyMs, busy, busyEveryMs } = JSON.parse(process.argv[2])
const counts = { messages: 0, closed: 0, lost: 0, wrong: 0, failed: 0 }
/** @type {number[]} ms, of answers */
const took = []
const run = { isOver: false }

main()

async function main () {
  const everys = [...Array(busy).fill(busyEveryMs), ...Array(connections).fill(everyMs)]
  for (let i = 0; i < everys.length; i += AT_ONCE) {
    await Promise.all(everys.slice(i, i + AT_ONCE).map(async every => use(await WebSocketClient.connect(port), every)))
  }
  console.log('open')
  process.stdin.resume().once('end', () => {
    run.isOver = true
    console.log(
      JSON.stringify({ ...counts, longestMs: took.reduce((most, ms) => Math.max(most, ms), 0), ...percentiles(took) })
    )
    process.exit()
  })
}

/** @param {WebSocketClient} client @param {number} every ms */
function use (client, every) {
  /** When those were sent that are not answered. @type {number[]} */
  const sent = []
  let answered = 0
  const timer = setInterval(() => {
    sent.push(performance.now())
    counts.messages++
    client.send('.')
  }, every)
  client.on('message', data => {
    client.inbox.length = 0
    if (Number(data) !== ++answered || sent.length === 0) counts.wrong++
    took.push(performance.now() - Number(sent.shift()))
  })
  client.once('end', async () => {
    clearInterval(timer)
    if (run.isOver) return
    counts.closed++
    counts.lost += sent.length
    for (let isBack = false; !isBack && !run.isOver;) {
      await passed(Math.random() * BACK_MS)
      const next = await WebSocketClient.connect(port).catch(() => null)
      if (next) use(next, every)
      else counts.failed++
      isBack = next !== null
    }
  })
}
