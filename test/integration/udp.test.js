'use strict'

const dgram = require('node:dgram')
const { once } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startFleet } = require('../support/fleet')

const WORKERS = 2
const OUTSTANDING = 16
const ANSWER_MS = 5000

/** @param {any} t @param {Record<string, any>} [options] */
async function startUdp (t, options) {
  process.env.UDP_PORT = '0'
  const fleet = await startFleet(t, 'udp.js', { workers: WORKERS, ...options })
  const { port: udpPort } = await fleet.told.until('bound')
  const socket = dgram.createSocket('udp4')
  t.teardown(() => socket.close())
  socket.connect(udpPort, '127.0.0.1')
  await once(socket, 'connect')
  return { ...fleet, udpPort, socket }
}

/** Sends a datagram for each answer, so that their number in flight stays the same. @param {dgram.Socket} socket */
function keepAsking (socket) {
  /** @type {Set<string>} */
  const open = new Set()
  /** @type {Set<string>} */
  const pids = new Set()
  let asked = 0
  let isStopping = false
  const ask = () => {
    const text = String(asked++)
    open.add(text)
    socket.send(text)
  }
  const emptied = new Promise(resolve => socket.on('message', answer => {
    const [text, pid] = String(answer).split(' ')
    open.delete(text)
    pids.add(pid)
    if (!isStopping) ask()
    else if (open.size === 0) resolve(undefined)
  }))
  for (let i = 0; i < OUTSTANDING; i++) ask()
  return {
    pids,
    /** Resolves when all are answered, or at the timeout. */
    async stop () {
      isStopping = true
      await Promise.race([emptied, setTimeout(ANSWER_MS, undefined, { ref: false })])
      return { asked, unanswered: [...open] }
    }
  }
}

t.test('an app that binds a UDP socket before it listens, and is recycled', async t => {
  const { events, told, udpPort, socket, supervisor } = await startUdp(t)
  const client = keepAsking(socket)
  await supervisor.reload()
  await supervisor.recycle(0)
  const { asked, unanswered } = await client.stop()
  t.same(unanswered, [], `none of ${asked} datagrams was lost`)
  t.ok([...client.pids].some(pid => supervisor.status().workers.some(worker => worker.pid === Number(pid))), 'replacements answer')
  t.same(told.all('bound').map(({ port }) => port), Array(2 * WORKERS + 1).fill(udpPort), 'all workers share the socket')
  t.same(events.all('worker.crash'), [])
})
