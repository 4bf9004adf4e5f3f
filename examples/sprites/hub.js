'use strict'

/**
 * The hub: one process that has the desktops and their torus. The workers reach it over a unix socket or, on several
 * machines, through Redis. As a program:
 *
 *     node examples/sprites/hub.js [--grace <seconds>] [--until-unused] <path of a unix socket, or redis://host:port>
 */

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { Desktops } = require('./desktops')
const { overLines } = require('./lines')

const EXPIRE_EVERY_MS = 1000
/** With --until-unused: the hub ends when it has had no worker for so long. */
const UNUSED_MS = 5000

/**
 * @typedef {{ desktops: Desktops, links: Set<import('./desktops').Link>, receive: (link: import('./desktops').Link,
 *   message: Record<string, any>) => void, attach: (link: import('./desktops').Link) => void,
 *   detach: (link: import('./desktops').Link) => void }} Hub
 */

/**
 * @param {string} address path of a unix socket, or the URL of a Redis server
 * @param {{ graceMs?: number, untilUnused?: boolean }} [how] `graceMs`: a desktop without a poll for this long has
 *   left; `untilUnused`: closes by itself when it has had no worker for 5 s
 * @returns {Promise<{ stats: () => ReturnType<Desktops['stats']>, close: () => Promise<void>, closed: Promise<void> }>}
 *   when workers can reach it
 * @throws {Error} EADDRINUSE: another hub is there
 */
async function startHub (address, { graceMs, untilUnused = false } = {}) {
  const desktops = new Desktops({ graceMs })
  const hub = openHub(desktops)
  const stop = isRedis(address) ? await require('./redis-wire').serveRedis(address, hub) : await serveSocket(address, hub)
  let usedAt = performance.now()
  /** @type {() => void} */
  let finish = () => {}
  /** @type {Promise<void>} */
  const closed = new Promise(resolve => { finish = resolve })
  const timer = setInterval(() => {
    const now = performance.now()
    desktops.expire(now)
    if (hub.links.size > 0) usedAt = now
    else if (untilUnused && now - usedAt >= UNUSED_MS) close()
  }, EXPIRE_EVERY_MS)
  async function close () {
    clearInterval(timer)
    await stop()
    finish()
  }
  return { stats: () => desktops.stats(), close, closed }
}

/** @param {Desktops} desktops @returns {Hub} */
function openHub (desktops) {
  /** @type {Hub['links']} */
  const links = new Set()
  return {
    desktops,
    links,
    attach: link => { links.add(link) },
    receive: (link, message) => desktops.receive(link, message, performance.now()),
    detach: link => { if (links.delete(link)) desktops.disconnected(link, performance.now()) }
  }
}

/** @param {string} file @param {Hub} hub @returns {Promise<() => Promise<void>>} */
async function serveSocket (file, hub) {
  /** @type {Set<net.Socket>} */
  const sockets = new Set()
  const server = net.createServer(socket => {
    sockets.add(socket)
    /** @type {import('./desktops').Link} */
    const link = { send: overLines(socket, message => hub.receive(link, message)) }
    hub.attach(link)
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => {
      sockets.delete(socket)
      hub.detach(link)
    })
  })
  await removeStale(file)
  await new Promise((resolve, reject) => server.once('error', reject).listen(file, () => resolve(undefined)))
  fs.chmodSync(file, 0o600)
  return () => new Promise(resolve => {
    server.close(() => resolve(undefined))
    for (const socket of sockets) socket.destroy()
  })
}

/** Removes the socket file of a hub that was killed. @param {string} file */
async function removeStale (file) {
  const error = await new Promise(resolve => {
    const probe = net.connect(file, () => {
      probe.destroy()
      resolve(null)
    }).once('error', resolve)
  })
  if (error?.code === 'ECONNREFUSED') fs.rmSync(file, { force: true })
}

/** @param {string} address */
function isRedis (address) {
  return /^rediss?:\/\//.test(address)
}

async function main () {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { grace: { type: 'string', default: '60' }, 'until-unused': { type: 'boolean' } } })
  const [address] = positionals
  if (!address || !(Number(values.grace) > 0)) throw new Error('usage: node hub.js [--grace <seconds>] [--until-unused] <socket or redis URL>')
  const hub = await startHub(isRedis(address) ? address : path.resolve(address), { graceMs: Number(values.grace) * 1000, untilUnused: values['until-unused'] })
  process.stderr.write(`sprites: the hub is at ${address} (pid ${process.pid})\n`)
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => hub.close())
  await hub.closed
  process.exit()
}

if (require.main === module) {
  main().catch(error => {
    process.stderr.write(`sprites: ${error.message}\n`)
    process.exit(2)
  })
}

module.exports = { startHub, openHub, isRedis }
