'use strict'

/**
 * WebSockets over a reload: connections that are closed, messages that are lost, the longest that an answer takes, and
 * the CPU time of the whole machine, clients too, beside as long without a reload. recycle, whose app calls
 * webSockets(), beside pm2 reload, whose app closes them with 1012, and clients that come back within a second.
 *
 *     npm run bench:websockets -- [--peers recycle,pm2] [--connections 10000] [--every 10000] [--busy 200] [--busy-every 50] [--rooms 20] [--push-every 10] [--seconds 30] [--workers 4] [--quick]
 *
 * `--every`: a message of each connection, in ms; `--busy` more have one each `--busy-every` ms. Each message is
 * answered with its number in its connection. The busy ones are in `--rooms` rooms; a hub to which all workers listen
 * publishes in each room every `--push-every` ms.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { setTimeout: passed } = require('node:timers/promises')
const { PEERS, install } = require('./peers')
const { Hub } = require('./support/hub')
const { openBench } = require('./support/rounds')
const { Roster } = require('./support/roster')
const { freePort } = require('../lib/tools/drill/target')

const APP = path.join(__dirname, 'apps', 'websocket.js')
const RELOADING = /** @type {Record<string, string>} */ ({ recycle: 'recycle-once', pm2: 'pm2-once' })
const BUDGET_BYTES = 4 * 1024 ** 3 // no worker reaches it
const TICK_S = 0.01 // of /proc/stat
const READY_MS = 60_000
const SETTLED_MS = 2000 // from the last push until what has not come counts as lost

const bench = openBench({
  name: 'websockets',
  options: { rounds: '2', peers: { default: 'recycle,pm2', of: Object.keys(RELOADING) }, connections: '10000', every: '10000', busy: '200', 'busy-every': '50', rooms: '20', 'push-every': '10', seconds: '30', workers: '4' },
  quick: { peers: 'recycle', connections: '50', every: '500', busy: '5', rooms: '2', seconds: '4', workers: '2' }
})
const { values } = bench
const [connections, everyMs, busy, busyEveryMs, rooms, pushEveryMs, seconds, workers] =
  ['connections', 'every', 'busy', 'busy-every', 'rooms', 'push-every', 'seconds', 'workers']
    .map(key => Number(values[key]))
/** @type {string[]} */
const peers = values.peers.split(',')

main().catch(error => {
  console.error(`bench:websockets: ${error.message}`)
  process.exit(1)
})

async function main () {
  install(peers.map(name => RELOADING[name]))
  await bench.run({
    groups: [{
      name: `${connections + busy} connections, ${workers} workers`,
      subjects: Object.fromEntries(peers.map(name => [name, ({ say }) => measure(RELOADING[name], say)]))
    }],
    columns: [
      { key: 'closed', title: 'closed', total: true },
      { key: 'lost', title: 'messages lost', total: true },
      { key: 'wrong', title: 'doubled or out of order', total: true },
      { key: 'messages', title: 'messages', total: true },
      { key: 'pushesLost', title: 'pushes lost', total: true },
      { key: 'pushesWrong', title: 'pushes doubled or out of order', total: true },
      { key: 'pushes', title: 'pushes', total: true },
      { key: 'p99', title: 'p99 of an answer, ms', digits: 0 },
      { key: 'longestMs', title: 'longest, ms', digits: 0 },
      { key: 'reloadS', title: 'reload, s', digits: 1 },
      { key: 'cpuS', title: 'CPU of the reload, s', digits: 1 }
    ],
    goals: ['closed', 'lost', 'wrong', 'pushesLost', 'pushesWrong'].map(key => ({ subject: 'recycle', key, atMost: 0 })),
    note: 'CPU of the reload: of the whole machine, clients too, beside as long without one.'
  })
}

/** @param {string} name of the peer @param {(text: string) => void} say */
async function measure (name, say) {
  const roster = new Roster()
  const hub = await Hub.open()
  const port = await freePort()
  const { file, more } = PEERS[name]
  const peer = spawn(process.execPath, [path.join(__dirname, 'peers', file), APP, String(workers), String(BUDGET_BYTES), String(more)], { env: { ...process.env, PORT: String(port), HUB: String(hub.port), ROSTER: roster.folder }, stdio: ['ignore', 'pipe', 'ignore'] })
  const end = () => peer.kill('SIGTERM')
  process.once('exit', end)
  const reloaded = lineOf(peer.stdout, 'reloaded')
  for (const deadline = Date.now() + READY_MS; roster.alive.length < workers;) {
    if (Date.now() > deadline) throw new Error(`${name}: ${roster.alive.length} of ${workers} workers listen`)
    await passed(50)
  }
  const load = spawn(process.execPath, [path.join(__dirname, 'support', 'web-socket-load.js'), JSON.stringify({ port, connections, everyMs, busy, busyEveryMs, rooms })], { stdio: ['pipe', 'pipe', 'inherit'] })
  /** @type {string[]} */
  const lines = []
  const lineReader = readline.createInterface({ input: load.stdout }).on('line', line => lines.push(line))
  const loadEnded = once(load, 'exit').then(([code]) => { if (code !== 0) throw new Error(`the clients ended with code ${code}`) })
  while (!lines.includes('open')) await Promise.race([once(lineReader, 'line'), loadEnded])
  say(`${connections + busy} connections are open`)
  hub.publish(Array.from({ length: rooms }, (_, room) => `/room${room}`), pushEveryMs)
  await passed(2000)
  const quiet = await cpuOver(seconds)
  const began = Date.now()
  peer.kill('SIGUSR2')
  const [cpu, endedAt] = await Promise.all([cpuOver(seconds), reloaded.then(() => Date.now())])
  const last = hub.stop()
  await passed(SETTLED_MS)
  load.stdin.write(`${last}\n`)
  await loadEnded
  const figures = JSON.parse(String(lines.at(-1)))
  const gone = once(peer, 'exit')
  peer.kill('SIGTERM')
  await gone
  process.removeListener('exit', end)
  hub.close()
  roster.close()
  return { ...figures, reloadS: (endedAt - began) / 1000, cpuS: cpu - quiet }
}

/** @param {import('node:stream').Readable} stream @param {string} text @returns {Promise<void>} */
function lineOf (stream, text) {
  return new Promise(resolve => readline.createInterface({ input: stream }).on('line', line => { if (line === text) resolve() }))
}

/** @param {number} seconds @returns {Promise<number>} CPU seconds of the machine */
async function cpuOver (seconds) {
  const used = () => {
    const [user, nice, system, , , irq, softirq] = fs.readFileSync('/proc/stat', 'latin1').split('\n', 1)[0].split(/ +/).slice(1).map(Number)
    return (user + nice + system + irq + softirq) * TICK_S
  }
  const before = used()
  await passed(1000 * seconds)
  return used() - before
}
