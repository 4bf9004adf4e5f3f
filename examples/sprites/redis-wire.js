'use strict'

/**
 * The hub's traffic through Redis, for workers on several machines. Each direction is a stream: the workers' to the
 * hub, and one to each worker. A reader that loses its connection goes on behind the last entry that it read, so
 * nothing is lost on the way.
 */

const { randomUUID } = require('node:crypto')
const { setTimeout: delay } = require('node:timers/promises')
const { createClient } = require('redis')

const TO_HUB = 'sprites:hub'
/** A worker says so often that it lives, and the hub answers. */
const ALIVE_EVERY_MS = 2000
/** A side that has been silent for so long has gone. */
const SILENT_MS = 10_000
const RETRY_MS = 200
const FORGET_S = 60
/** Entries of a stream that nothing reads. Each is what was sent within one turn of the event loop. */
const LONGEST = 100_000
const TRIM_EVERY_MS = 1000

/** @typedef {Awaited<ReturnType<typeof connect>>['client']} Client */

/** @param {string} name */
const toWorker = name => `sprites:worker:${name}`

/**
 * A worker's side. It is up when the hub has answered; a hub that does not know the worker says so, and the worker
 * parks its polls anew.
 *
 * @param {string} url
 * @returns {import('./hub-client').Wire}
 */
function redisWire (url) {
  const name = randomUUID()
  /** @type {(message: Record<string, any>) => void} */
  let send = () => {}
  /** @type {() => void} */
  let close = () => {}
  return {
    send: message => send(message),
    async open (on) {
      const stream = toWorker(name)
      const { client, reader, stop } = await connect(url)
      const batch = batches(client, TO_HUB, name)
      send = batch
      let isUp = false
      let heardAt = performance.now()
      const timer = setInterval(() => {
        batch({ op: 'alive' })
        if (!isUp || performance.now() - heardAt < SILENT_MS) return
        isUp = false
        on.down()
      }, ALIVE_EVERY_MS)
      batch({ op: 'alive' })
      client.on('ready', () => { // connected anew: what was under way may be lost, so all polls are parked once more
        if (!isUp) return
        on.down()
        on.up()
      })
      close = () => {
        clearInterval(timer)
        stop()
      }
      await read(reader, stream, '0-0', (_, message) => {
        heardAt = performance.now()
        if (message.hub === undefined) return on.message(message)
        if (isUp && message.hub === 'known') return
        if (isUp) on.down() // it is another hub, or has taken this worker for gone
        isUp = true
        on.up()
      })
    },
    close: () => close()
  }
}

/**
 * The hub's side.
 *
 * @param {string} url
 * @param {import('./hub').Hub} hub
 * @returns {Promise<() => Promise<void>>} stops it
 */
async function serveRedis (url, hub) {
  const { client, reader, stop } = await connect(url)
  /** @type {Map<string, { link: import('./desktops').Link, heardAt: number }>} */
  const workers = new Map()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [name, { link, heardAt }] of workers) {
      if (now - heardAt < SILENT_MS) continue
      workers.delete(name)
      hub.detach(link)
      client.del(toWorker(name)).catch(() => {})
    }
  }, ALIVE_EVERY_MS)
  client.on('ready', () => { // connected anew: answers may be lost
    for (const { link } of workers.values()) link.send({ hub: 'new' })
  })
  const latest = await client.xRevRange(TO_HUB, '+', '-', { COUNT: 1 })
  read(reader, TO_HUB, latest?.[0]?.id ?? '0-0', (name, message) => {
    let worker = workers.get(name)
    const isNew = !worker
    if (!worker) {
      worker = { link: { send: batches(client, toWorker(name), '') }, heardAt: 0 }
      workers.set(name, worker)
      hub.attach(worker.link)
    }
    worker.heardAt = performance.now()
    if (isNew || message.op === 'alive') worker.link.send({ hub: isNew ? 'new' : 'known' })
    // Of a worker that ends when no hub is there
    if (message.op === 'alive') client.expire(toWorker(name), FORGET_S).catch(() => {})
    else hub.receive(worker.link, message)
  })
  return async () => {
    clearInterval(timer)
    stop()
  }
}

/** @param {string} url */
async function connect (url) {
  const client = createClient({ url })
  client.on('error', () => {}) // it connects again by itself
  const reader = client.duplicate()
  reader.on('error', () => {})
  await Promise.all([client.connect(), reader.connect()])
  return {
    client,
    reader,
    stop () {
      client.destroy()
      reader.destroy()
    }
  }
}

/**
 * @param {Client} client
 * @param {string} stream
 * @param {string} name of the sender
 * @returns {(message: Record<string, any>) => void}
 */
function batches (client, stream, name) {
  /** @type {Record<string, any>[]} */
  let waiting = []
  return message => {
    if (waiting.push(message) > 1) return
    setImmediate(() => {
      const entry = { name, messages: JSON.stringify(waiting) }
      waiting = []
      client.xAdd(stream, '*', entry, { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: LONGEST } }).catch(() => {})
    })
  }
}

/**
 * @param {Client} reader
 * @param {string} stream
 * @param {string} from the entry behind which it begins
 * @param {(name: string, message: Record<string, any>) => void} receive
 */
async function read (reader, stream, from, receive) {
  let trimmedAt = performance.now()
  while (reader.isOpen) {
    if (performance.now() - trimmedAt >= TRIM_EVERY_MS) {
      trimmedAt = performance.now()
      reader.xTrim(stream, 'MINID', from).catch(() => {}) // what has been read
    }
    /** @type {any} */
    const found = await reader.xRead([{ key: stream, id: from }], { BLOCK: 5000, COUNT: 1000 })
      .catch(() => delay(RETRY_MS))
    for (const { id, message } of found?.[0]?.messages ?? []) {
      from = id
      for (const one of JSON.parse(message.messages)) receive(message.name, one)
    }
  }
}

module.exports = { redisWire, serveRedis }
