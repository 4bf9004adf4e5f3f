'use strict'

const http = require('node:http')
const t = require('tap')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { io } = require('socket.io-client')
const WebSocket = require('ws')
const { extent } = require('../support/campaign')
const { becomesTrue } = require('../support/processes')
const { startApp, checkRecycles } = require('./under-load')

const CLIENTS = extent({ short: 4, long: 6 })
const RECYCLES = extent({ short: 1, long: 3 })
const THINK_MS = extent({ short: 20, long: 2 }) // between an answer and the next message

/**
 * Runs clients while workers are recycled, some by request and then all by a reload.
 *
 * @param {any} t tap's
 * @param {string} app
 * @param {(port: number, n: number) => { stop: () => Promise<void>, progress: () => number }} connect
 */
async function recycleWhile (t, app, connect) {
  const fleet = await startApp(t, app, { workers: 2, maxRequests: undefined, drainTimeout: '10s' })
  /** The messages that the app has stored. @type {Set<string>} */
  const kept = new Set()
  fleet.supervisor.on('message', (/** @type {any} */ { message }) => kept.add(message.id))
  const clients = Array.from({ length: CLIENTS }, (_, n) => connect(fleet.port, n))
  const everybodyGetsOn = async () => {
    const before = clients.map(client => client.progress())
    const isSo = () => clients.every((client, i) => client.progress() >= before[i] + 5)
    for (const deadline = Date.now() + 20_000; !isSo() && Date.now() < deadline;) {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    t.ok(isSo(), 'every client makes progress')
  }
  await everybodyGetsOn()
  for (let i = 0; i < RECYCLES; i++) {
    await fleet.supervisor.recycle(i % 2)
    await everybodyGetsOn()
  }
  await fleet.supervisor.reload()
  await everybodyGetsOn()
  await Promise.all(clients.map(client => client.stop()))
  checkRecycles(t, fleet.events)
  return { ...fleet, kept }
}

/**
 * Acknowledged messages also arrive here, on another channel than the acknowledgement and maybe after it.
 *
 * @param {any} t tap's
 * @param {Set<string>} acknowledged
 * @param {Set<string>} kept
 */
async function noneLost (t, acknowledged, kept) {
  const lost = () => [...acknowledged].filter(id => !kept.has(id))
  await becomesTrue(() => lost().length === 0)
  t.same(lost(), [], `none of ${acknowledged.size} acknowledged messages is lost`)
}

t.test('WebSocket: clients get 1012 and reconnect; no acknowledged message is lost (nginx: worker_shutdown_timeout_proxy_upgrade.t)', async t => {
  /** @type {Set<string>} */
  const acknowledged = new Set()
  /** @type {any[]} */
  const closes = []
  /** @type {any[]} */
  const errors = []

  const connect = (/** @type {number} */ port, /** @type {number} */ n) => {
    let last = 0
    const stopping = new AbortController()
    const done = (async () => {
      while (!stopping.signal.aborted) {
        const socket = new WebSocket(`ws://127.0.0.1:${port}`)
        socket.on('error', error => errors.push(error.message))
        const send = () => socket.send(`${n}:${last}`) // after a reconnect the unanswered message is sent again
        socket.on('open', send)
        socket.on('message', data => {
          acknowledged.add(String(data))
          last++
          if (stopping.signal.aborted) socket.close(1000)
          else setTimeout(() => { if (socket.readyState === WebSocket.OPEN) send() }, THINK_MS)
        })
        const [code] = await once(socket, 'close')
        closes.push(code)
      }
    })()
    return {
      progress: () => last,
      stop () {
        stopping.abort()
        return done
      }
    }
  }
  const { kept } = await recycleWhile(t, 'websocket.js', connect)
  t.same(errors, [])
  t.same(closes.filter(code => code !== 1012 && code !== 1000), [], 'no connection ended without a close frame')
  t.ok(closes.includes(1012), 'clients got 1012')
  await noneLost(t, acknowledged, kept)
})

t.test('Socket.IO by websocket: clients reconnect by themselves; no acknowledged message is lost', async t => {
  /** @type {Set<string>} */
  const acknowledged = new Set()
  /** @type {any[]} */
  const errors = []
  let reconnects = 0

  const connect = (/** @type {number} */ port, /** @type {number} */ n) => {
    let last = 0
    const stopping = new AbortController()
    const socket = io(`http://127.0.0.1:${port}`, {
      transports: ['websocket'], forceNew: true, reconnectionDelay: 10, reconnectionDelayMax: 50, retries: 10, ackTimeout: 500
    })
    socket.io.on('reconnect', () => { reconnects++ })
    socket.on('connect_error', error => errors.push(error.message))
    const done = (async () => {
      while (!stopping.signal.aborted) {
        acknowledged.add(await socket.emitWithAck('keep', `${n}:${last}`)) // sent again until it is acknowledged
        last++
        await sleep(THINK_MS)
      }
      socket.close()
    })()
    return {
      progress: () => last,
      stop () {
        stopping.abort()
        return done
      }
    }
  }
  const { kept } = await recycleWhile(t, 'socket-io.js', connect)
  t.same(errors, [], 'no attempt to connect failed')
  t.ok(reconnects > 0)
  await noneLost(t, acknowledged, kept)
})

t.test('server-sent events: streams end with a whole event, and clients continue after their last one', async t => {
  /** @type {any[]} */
  const faults = []
  let streams = 0

  const connect = (/** @type {number} */ port) => {
    let last = 0
    const stopping = new AbortController()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    /** Behaves as EventSource: parses, keeps the last id, reconnects when the stream ends. */
    const listen = () => new Promise(resolve => {
      streams++
      const headers = { accept: 'text/event-stream', ...(last ? { 'last-event-id': String(last) } : {}) }
      const request = http.get({ host: '127.0.0.1', port, agent, headers }, response => {
        let rest = ''
        response.setEncoding('utf8')
        response.on('data', chunk => {
          const events = (rest + chunk).split('\n\n')
          rest = events.pop() ?? ''
          for (const event of events) {
            const id = Number(/^id: (\d+)$/m.exec(event)?.[1])
            if (id !== last + 1) faults.push(`${id} after ${last}`)
            last = id
          }
          if (stopping.signal.aborted) request.destroy()
        })
        response.on('close', () => {
          if (!stopping.signal.aborted && (!response.complete || rest !== '')) faults.push(`cut after ${last}`)
          resolve(undefined)
        })
        response.on('error', () => {}) // the close reports the end
      })
      request.on('error', error => {
        if (!stopping.signal.aborted) faults.push(error.message)
        resolve(undefined)
      })
    })
    const done = (async () => {
      while (!stopping.signal.aborted) await listen()
      agent.destroy()
    })()
    return {
      progress: () => last,
      stop () {
        stopping.abort()
        return done
      }
    }
  }
  await recycleWhile(t, 'server-sent-events.js', connect)
  t.same(faults, [])
  t.ok(streams > CLIENTS, 'clients reconnected')
})
