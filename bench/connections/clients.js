'use strict'

/**
 * A process of clients: `node clients.js <port> <address> <count>`, with an IPC channel. It connects to an address of
 * its own of 127.0.0.0/8, since there are 28,232 ports a pair of addresses. Orders: { connect: at once }, { rate: a
 * second }, { counts: true }, { stop: true }.
 */

const { Desktop } = require('./desktop')
const { Thrower } = require('./thrower')

const [, , port, host, count] = process.argv
const server = { host, port: Number(port) }

/** @type {import('./desktop').Counts} */
const counts = {
  opened: 0,
  joined: 0,
  received: 0,
  repeated: 0,
  missing: 0,
  dropped: 0,
  reconnects: 0,
  failures: {},
  latencies: [],
  onJoined: openNext
}
/** @type {Desktop[]} */
const desktops = Array.from({ length: Number(count) }, () => new Desktop(server, counts))
const thrower = new Thrower(server, desktops)
let opened = 0

function openNext () {
  if (opened < desktops.length) desktops[opened++].open()
}

/** @type {Record<string, (value: any) => void>} */
const ORDERS = {
  connect: atOnce => { for (let i = 0; i < atOnce; i++) openNext() },
  rate: rate => thrower.setRate(rate),
  /** What has been counted since the start; latencies since the last time. */
  counts () {
    const { latencies, onJoined, ...numbers } = counts
    process.send?.({ ...numbers, waiting: thrower.waiting, latencies })
    counts.latencies = []
  },
  stop () {
    thrower.stop()
    for (const desktop of desktops) desktop.close()
    process.exit()
  }
}

process.on('message', (/** @type {Record<string, any>} */ order) => {
  for (const [name, value] of Object.entries(order)) ORDERS[name](value)
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
