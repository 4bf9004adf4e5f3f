'use strict'

const http = require('node:http')
const t = require('tap')
const { once } = require('node:events')
const { io } = require('socket.io-client')
const WebSocket = require('ws')
const { becomesTrue } = require('../support/processes')
const { startApp, checkRecycles } = require('./under-load')

const CLIENTS = 6

/**
 * Runs clients while workers are recycled, three by requested and all by a reload.
 *
 * @param {any} t tap's
 * @param {string} app
 * @param {(port: number, n: number) => { stop: () => Promise<void>, progress: () => number }} connect
 */
async function recycleWhile (t, app, connect) {
  const fleet = await startApp(t, app, { maxRequests: undefined, drainTimeout: '10s' })
  /** What the app has kept. @type {Set<string>} */
  const kept = new Set()
  fleet.supervisor.on('message', (/** @type {any} */ { message }) => kept.add(message.id))
  const clients = Array.from({ length: CLIENTS }, (_, n) => connect(fleet.port, n))
  const everybodyGetsOn = async () => {
    const before = clients.map(client => client.progress())
    const isSo = () => clients.every((client, i) => client.progress() >= before[i] + 5)
    for (const deadline = Date.now() + 20_000; !isSo() && Date.now() < deadline;) await new Promise(resolve => setTimeout(resolve, 5))
    t.ok(isSo(), 'every client gets on')
  }
  await everybodyGetsOn()
  for (let i = 0; i < 3; i++) {
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
 * What was acknowledged arrives here, too: by another way than the acknowledgement, so maybe after it.
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

t.test('WebSocket: clients are told 1012 and reconnect; nothing that was acknowledged is lost', async t => {
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
        const send = () => socket.send(`${n}:${last}`) // after a reconnect, the one without an answer once more
        socket.on('open', send)
        socket.on('message', data => {
          acknowledged.add(String(data))
          last++
          if (stopping.signal.aborted) socket.close(1000)
          else setTimeout(() => { if (socket.readyState === WebSocket.OPEN) send() }, 2)
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
  t.same(closes.filter(code => code !== 1012 && code !== 1000), [], 'no connection ended without a word')
  t.ok(closes.includes(1012), 'clients were told')
  await noneLost(t, acknowledged, kept)
})

t.test('Socket.IO by websocket: clients reconnect by themselves; nothing that was acknowledged is lost', async t => {
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

t.test('server-sent events: streams end whole, and clients go on where they left off', async t => {
  /** @type {any[]} */
  const faults = []
  let streams = 0

  const connect = (/** @type {number} */ port) => {
    let last = 0
    const stopping = new AbortController()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    /** What EventSource does: parse, remember the last id, come back when the stream ends. */
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
        response.on('error', () => {}) // its close says what is to be said
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
  t.ok(streams > CLIENTS, 'clients came back')
})
