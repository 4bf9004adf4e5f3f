'use strict'

/**
 * Many clients with a WebSocket each, in a process of their own: `node web-socket-load.js <options as JSON>`. Prints
 * `open` when all are connected, and what they have had when it reads the last push's number. A client whose connection
 * is closed comes back within a second, as clients do.
 */

const { performance } = require('node:perf_hooks')
const { setTimeout: passed } = require('node:timers/promises')
const { percentiles } = require('./statistics')
const { WebSocketClient } = require('./web-socket-client')

const AT_ONCE = 200 // handshakes
const BACK_MS = 1000

const { port, connections, everyMs, busy, busyEveryMs, rooms } = JSON.parse(process.argv[2])
const counts = { messages: 0, closed: 0, lost: 0, wrong: 0, failed: 0, pushes: 0, pushesLost: 0, pushesWrong: 0 }
/** Last push that a client has had, by the client's number; a client that comes back has its number again. */
/** @type {Map<number, number>} */
const lastPush = new Map()
/** @type {number[]} ms, of answers */
const took = []
const run = { isOver: false }

main()

async function main () {
  const everys = [...Array(busy).fill(busyEveryMs), ...Array(connections).fill(everyMs)]
  for (let i = 0; i < everys.length; i += AT_ONCE) {
    await Promise.all(everys.slice(i, i + AT_ONCE).map((every, at) => come(i + at, every)))
  }
  console.log('open')
  process.stdin.resume()
  process.stdin.once('data', data => { // the last number that was published: what the client has not had by then is lost
    run.isOver = true
    for (const number of lastPush.values()) counts.pushesLost += Number(data) - number
    console.log(
      JSON.stringify({ ...counts, longestMs: took.reduce((most, ms) => Math.max(most, ms), 0), ...percentiles(took) })
    )
    process.exit()
  })
}

/**
 * The busy clients are in a room each, in turn.
 *
 * @param {number} number @param {number} every ms
 */
async function come (number, every) {
  const room = number < busy ? `/room${number % rooms}` : '/'
  use(await WebSocketClient.connect(port, room), number, every)
}

/** @param {WebSocketClient} client @param {number} number @param {number} every ms */
function use (client, number, every) {
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
    if (String(data).startsWith('push ')) return push(number, Number(String(data).slice(5)))
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
      isBack = await come(number, every).then(() => true, () => false)
      if (!isBack) counts.failed++
    }
  })
}

/** @param {number} client @param {number} number of the push */
function push (client, number) {
  counts.pushes++
  const last = lastPush.get(client) ?? number - 1
  if (number <= last) counts.pushesWrong++
  else counts.pushesLost += number - last - 1
  lastPush.set(client, Math.max(last, number))
}
