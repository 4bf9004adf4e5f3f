'use strict'

const t = require('tap')
const fc = require('fast-check')
const { Desktops, MOST_KEPT } = require('../../../examples/sprites/desktops')

/** A worker that keeps what the hub sends. */
function worker () {
  /** @type {Record<string, any>[]} */
  const sent = []
  return { sent, send: (/** @type {Record<string, any>} */ message) => { sent.push(message) } }
}

/** @param {{ graceMs?: number }} [how] */
function open (how) {
  const desktops = new Desktops(how)
  const link = worker()
  const ask = (/** @type {Record<string, any>} */ message, now = 0, from = link) => {
    desktops.receive(from, message, now)
    return from.sent.at(-1) ?? {}
  }
  const join = (/** @type {string} */ name) => ask({ op: 'join', call: 1, name }).id
  return { desktops, link, ask, join }
}

t.test('a sprite reaches the poll of the neighbour, at the other edge', async t => {
  const { ask, join, link } = open()
  const [a, b] = [join('a'), join('b')]
  ask({ op: 'poll', id: b, ack: 0, poll: 7 })
  t.same(ask({ op: 'throw', call: 2, id: a, edge: 'right', sprite: { hue: 1 } }), { call: 2, to: 'b' })
  t.same(link.sent.at(-2), { poll: 7, sprites: [{ number: 1, from: 'a', edge: 'left', sprite: { hue: 1 } }] })
})

t.test('it comes again until its number is acknowledged', async t => {
  const { desktops, ask, join } = open()
  const [a, b] = [join('a'), join('b')]
  for (const sprite of ['x', 'y']) ask({ op: 'throw', id: a, edge: 'right', sprite })
  const numbers = (/** @type {any} */ { sprites }) => sprites.map((/** @type {any} */ { number }) => number)
  t.same(numbers(ask({ op: 'poll', id: b, ack: 0, poll: 1 })), [1, 2])
  t.same(numbers(ask({ op: 'poll', id: b, ack: 0, poll: 2 }, 0, worker())), [1, 2], 'in another worker')
  t.same(numbers(ask({ op: 'poll', id: b, ack: 1, poll: 3 })), [2])
  t.same(desktops.stats().kept, 1)
  const parked = worker()
  ask({ op: 'poll', id: b, ack: 2, poll: 4 }, 0, parked)
  t.same(parked.sent, [], 'nothing is left: it waits')
  t.match(desktops.stats(), { kept: 0, acknowledged: 2, parked: 1 })
})

t.test('a poll that moves: the old worker says afterwards that it has it no more, which is not believed', async t => {
  const { ask, join, link } = open()
  const [a, b] = [join('a'), join('b')]
  const other = worker()
  ask({ op: 'poll', id: b, ack: 0, poll: 1 })
  ask({ op: 'poll', id: b, ack: 0, poll: 1 }, 0, other)
  t.same(link.sent.at(-1), { poll: 1, error: 'replaced' })
  ask({ op: 'unpark', id: b, poll: 1 })
  ask({ op: 'throw', id: a, edge: 'right', sprite: 1 })
  t.match(other.sent, [{ poll: 1, sprites: [{ number: 1 }] }])
})

t.test("a number of the sender's own is thrown once", async t => {
  const { desktops, ask, join } = open()
  const [a] = [join('a'), join('b')]
  t.match(ask({ op: 'throw', call: 1, id: a, edge: 'right', number: 1, sprite: 1 }), { to: 'b' })
  t.match(ask({ op: 'throw', call: 2, id: a, edge: 'right', number: 1, sprite: 1 }), { repeated: true })
  t.match(ask({ op: 'throw', call: 3, id: a, edge: 'right', number: 2, sprite: 2 }), { to: 'b' })
  t.match(desktops.stats(), { thrown: 2, kept: 2 })
})

t.test('a poll with a stitch is answered when the neighbours change, and only then', async t => {
  const { ask, join, link } = open()
  const a = join('a')
  const { stitch } = link.sent[0]
  ask({ op: 'poll', id: a, ack: 0, poll: 1, stitch })
  t.equal(link.sent.length, 1)
  join('b')
  t.match(link.sent[1], { poll: 1, sprites: [], neighbours: { left: 'b', right: 'b', up: 'a', down: 'a' } })
  ask({ op: 'poll', id: a, ack: 0, poll: 2 })
  const { length } = link.sent
  join('c')
  t.equal(link.sent.length, length + 1, 'the answer to the join alone')
})

t.test('a desktop without a poll for the time of grace has left, and what it did not acknowledge flies on', async t => {
  const { desktops, ask, join, link } = open({ graceMs: 100 })
  const [a, b, c] = [join('a'), join('b'), join('c')] // a b / c
  for (const id of [a, c]) ask({ op: 'poll', id, ack: 0, poll: 1 })
  ask({ op: 'throw', id: a, edge: 'right', sprite: 'x' })
  desktops.expire(99)
  t.equal(desktops.stats().desktops, 3)
  desktops.expire(100)
  t.match(desktops.stats(), { desktops: 2, expired: 1, vanished: 0 })
  t.match(link.sent.at(-1), { sprites: [{ edge: 'left', from: 'a', sprite: 'x' }] })
  t.match(ask({ op: 'poll', id: b, ack: 0, poll: 2 }), { poll: 2, error: 'unknown' })
})

t.test('the desktops of a worker that has gone are there for the time of grace', async t => {
  const { desktops, ask, join, link } = open({ graceMs: 100 })
  const a = join('a')
  ask({ op: 'poll', id: a, ack: 0, poll: 1 })
  desktops.expire(1000)
  desktops.disconnected(link, 1000)
  t.match(desktops.stats(), { desktops: 1, parked: 0 })
  desktops.expire(1100)
  t.equal(desktops.stats().desktops, 0)
})

t.test(`a desktop that does not poll is not thrown more than ${MOST_KEPT} sprites`, async t => {
  const { ask, join } = open()
  const [a] = [join('a'), join('b')]
  for (let i = 0; i < MOST_KEPT; i++) ask({ op: 'throw', id: a, edge: 'right', sprite: i })
  t.match(ask({ op: 'throw', call: 1, id: a, edge: 'right', sprite: 'more' }), { error: 'full' })
})

t.test('over any order of joins, throws, polls, moves, leaves and lost workers, no sprite is lost or comes twice', async t => {
  const step = fc.tuple(fc.nat(9), fc.nat(1000), fc.nat(3))
  fc.assert(fc.property(fc.array(step, { minLength: 20, maxLength: 200, size: 'max' }), fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), (steps, doubles) => {
    const desktops = new Desktops({ graceMs: 50, random: () => doubles.next().value })
    /**
     * Clients as they know themselves.
     *
     * @type {{ id: string, ack: number, poll: number | null, link: any, got: any[] }[]}
     */
    const clients = []
    /** @type {Set<any>} */
    let links = new Set([0, 1, 2].map(worker))
    let now = 0
    let polls = 0
    let thrown = 0
    const calls = worker()
    /** What the workers got reaches the clients, if the client still waits for this poll in this worker. */
    const deliver = () => {
      for (const link of links) {
        for (const { poll, sprites, error } of link.sent.splice(0)) {
          const client = clients.find(client => client.link === link && client.poll === poll)
          if (!client) continue
          client.poll = null
          if (error === 'unknown') clients.splice(clients.indexOf(client), 1)
          for (const { number, sprite } of sprites ?? []) {
            if (number !== client.ack + 1) throw new Error(`number ${number} after ${client.ack}`)
            client.ack = number
            client.got.push(sprite)
          }
        }
      }
    }
    const poll = (/** @type {any} */ client, /** @type {any} */ link) => {
      client.poll = ++polls
      client.link = link
      desktops.receive(link, { op: 'poll', id: client.id, ack: client.ack, poll: client.poll }, now)
    }
    /** @type {any[]} */
    const arrived = []
    for (const [what, which, where] of steps) {
      now += 1
      const client = clients[which % Math.max(1, clients.length)]
      const link = [...links][where % links.size]
      if (what === 0 || !client) {
        desktops.receive(calls, { op: 'join', call: 1 }, now)
        clients.push({ id: calls.sent.at(-1)?.id, ack: 0, poll: null, link: null, got: [] })
      } else if (what <= 4) desktops.receive(calls, { op: 'throw', id: client.id, edge: ['left', 'right', 'up', 'down', 'any'][what], sprite: thrown++ }, now)
      else if (what <= 6) poll(client, link)
      else if (what === 7 && client.poll) { // it moves, and the old worker says so before or afterwards
        const [from, old] = [client.link, client.poll]
        const unpark = () => desktops.receive(from, { op: 'unpark', id: client.id, poll: old }, now)
        if (where % 2) unpark()
        poll(client, link)
        if (where % 2 === 0) unpark()
      } else if (what === 8) { // the worker dies with what it had not passed on
        links.delete(link)
        links = new Set([...links, worker()])
        desktops.disconnected(link, now)
        for (const client of clients) if (client.link === link) client.poll = null
        continue
      } else if (what === 9 && clients.length > 1) { // what it has seen is acknowledged; what comes afterwards flies on
        poll(client, link)
        desktops.receive(calls, { op: 'leave', call: 1, id: client.id }, now)
        arrived.push(...client.got)
        clients.splice(clients.indexOf(client), 1)
      }
      if (where > 0) deliver()
    }
    // In the end each polls until nothing is left.
    desktops.receive(calls, { op: 'stats', call: 1 }, now)
    for (let i = 0; i < 3; i++) {
      deliver()
      for (const client of clients) poll(client, [...links][0])
    }
    arrived.push(...clients.flatMap(({ got }) => got))
    const different = new Set(arrived).size
    if (different !== arrived.length || arrived.length !== thrown) throw new Error(`${arrived.length} of ${thrown} arrived, ${different} of them different`)
  }), { numRuns: 300 })
  t.pass()
})
