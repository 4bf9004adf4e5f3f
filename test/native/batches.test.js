'use strict'

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { Batches } = require('../../lib/native/batches')
const { Descriptor } = require('../../lib/native/descriptor')
const { message } = require('../../lib/core/envelope')

const { addon, missing } = loadAddon()
const options = { skip: missing ?? false }

/** Two ends; what one sends is kept until the other takes it. @param {any} t */
function scene (t) {
  const [from, to] = addon.socketpair().map(fd => new Descriptor(fd))
  const sent = []
  const sender = new Batches({
    addon,
    socket: from,
    send (message, handle, done) {
      sent.push({ message: JSON.parse(JSON.stringify(message)), handle })
      done(null)
    }
  })
  const receiver = new Batches({ addon, socket: to, send () {} })
  t.teardown(() => [from, to].forEach(end => end.close()))
  return { sender, receiver, sent, from, to }
}

/** A file of its own stands for a connection. @param {any} t @param {string} text */
function file (t, text) {
  const fd = fs.openSync(path.join(t.testdir({ [text]: text }), text), 'r')
  return new Descriptor(fd)
}

/** @param {Descriptor | undefined} descriptor */
function contentOf (descriptor) {
  const text = fs.readFileSync(descriptor.fd, 'utf8')
  descriptor.close()
  return text
}

/** @param {number} id @param {any} [handle] @param {(error: Error | null) => void} [sent] */
const offer = (id, handle, sent = () => {}) => ({ message: message('move', { id, parcel: { key: 'k', leftMs: null } }), handle, sent })
const adopted = (/** @type {number} */ id) => ({ message: message('moved', { id, ok: true }), handle: undefined, sent () {} })
const tick = () => new Promise(resolve => setImmediate(resolve))

t.test('what is added in one tick is one message and one packet, in its order', options, async t => {
  const { sender, receiver, sent } = scene(t)
  const handles = ['a', 'b', 'c'].map(text => file(t, text))
  let done = 0
  sender.add(offer(1, handles[0], () => done++))
  sender.add(adopted(7))
  sender.add(offer(2, handles[1], () => done++))
  t.same(sent, [], 'not at once')
  await tick()
  t.equal(sent.length, 1)
  t.match(sent[0].message, { cmd: 'NODE_RECYCLE', type: 'batch', number: 1 })
  t.equal(sent[0].handle, undefined)
  t.equal(done, 2)
  sender.add(offer(3, handles[2]))
  await tick()
  const first = receiver.open(sent[0].message)
  t.same(first.map(({ message }) => [message.type, message.id]), [['move', 1], ['moved', 7], ['move', 2]])
  t.equal(first[1].descriptor, undefined)
  t.same([contentOf(first[0].descriptor), contentOf(first[2].descriptor)], ['a', 'b'])
  t.equal(contentOf(receiver.open(sent[1].message)[0].descriptor), 'c')
  t.ok(handles.every(({ fd }) => fd >= 0), 'the sender keeps its own')
  handles.forEach(handle => handle.close())
})

t.test('what an idle connection makes is a list in the batch, and the same message behind it', async t => {
  const { sender, receiver, sent } = scene(t)
  const messages = [
    message('move', { id: 1, parcel: { key: 'k', leftMs: null } }),
    message('move', { id: 2, parcel: { key: 'k', leftMs: 5, row: 0 } }),
    message('move', { id: 9, parcel: { key: 'k', leftMs: 5, counted: [700, 9] } }),
    message('move', { id: 10, parcel: { key: 'k', leftMs: 5, row: 3, counted: [0, 0] } }),
    message('move', { id: 3, parcel: { key: 'k', leftMs: 5, session: 's' } }),
    message('move', { id: 4, parcel: { key: 'k', leftMs: 5, row: 0, load: 0.5 } }),
    message('moved', { id: 5, ok: true }),
    message('moved', { id: 6, ok: true, row: 0 }),
    message('moved', { id: 7, ok: false }),
    message('moved', { id: 8, ok: false, isStalled: true })
  ]
  for (const message of messages) sender.add({ message, handle: undefined, sent () {} })
  await tick()
  t.same(sent[0].message.messages.map(Array.isArray), [true, true, true, true, false, false, true, true, false, false])
  t.strictSame(receiver.open(sent[0].message).map(({ message }) => message), messages)
})

t.test('each message names its descriptor: one that has none takes no other\'s', options, async t => {
  const { sender, receiver, sent } = scene(t)
  const handle = file(t, 'b')
  sender.add(offer(1, undefined))
  sender.add(offer(2, handle))
  await tick()
  const [first, second] = receiver.open(sent[0].message)
  t.equal(first.descriptor, undefined)
  t.equal(contentOf(second.descriptor), 'b')
  t.notOk('descriptor' in second.message, 'the message is as it was added')
  sender.add(offer(3, handle))
  sender.add(offer(4, handle))
  await tick()
  for (const brief of sent[1].message.messages) brief[4] = 0
  const [third, fourth] = receiver.open(sent[1].message)
  t.ok(third.descriptor)
  t.equal(fourth.descriptor, undefined, 'no two have the same')
  third.descriptor?.close()
  handle.close()
})

t.test('at most 128 descriptors are in a packet', options, async t => {
  const { sender, receiver, sent } = scene(t)
  const handle = file(t, 'a')
  for (let id = 1; id <= 300; id++) sender.add(offer(id, handle))
  t.equal(sent.length, 2, 'two are full, and sent at once')
  await tick()
  t.same(sent.map(({ message }) => message.messages.length), [128, 128, 44])
  const opened = sent.flatMap(({ message }) => receiver.open(message))
  t.same(opened.map(({ message }) => message.id), Array.from({ length: 300 }, (_, i) => i + 1))
  t.ok(opened.every(({ descriptor }) => descriptor && contentOf(descriptor) !== null))
  handle.close()
})

t.test('a handle that is closed before the batch is sent is left out, and its sender hears so', options, async t => {
  const { sender, receiver, sent } = scene(t)
  const [a, b] = [file(t, 'a'), file(t, 'b')]
  const errors = []
  sender.add(offer(1, a, error => errors.push([1, error?.message])))
  sender.add(offer(2, b, error => errors.push([2, error?.message])))
  a.close()
  await tick()
  t.same(errors.sort(), [[1, 'the connection has been closed'], [2, undefined]])
  const opened = receiver.open(sent[0].message)
  t.same(opened.map(({ message }) => message.id), [2])
  t.equal(contentOf(opened[0].descriptor), 'b')
  b.close()
})

t.test('where no packet can be sent, each message goes alone, with its handle', options, async t => {
  const { sender, sent, from } = scene(t)
  const [a, b] = [file(t, 'a'), file(t, 'b')]
  from.close()
  sender.add(offer(1, a))
  sender.add(adopted(7))
  sender.add(offer(2, b))
  await tick()
  t.same(sent.map(({ message, handle }) => [message.type, message.id, handle]), [['move', 1, a], ['moved', 7, undefined], ['move', 2, b]])
  for (const handle of [a, b]) handle.close()
})

t.test('a packet whose message never came is passed over, and a message whose packet is not there has no descriptors', options, async t => {
  const { sender, receiver, sent } = scene(t)
  const [a, b] = [file(t, 'a'), file(t, 'b')]
  sender.add(offer(1, a))
  sender.flush()
  sender.add(offer(2, b))
  sender.flush()
  t.equal(contentOf(receiver.open(sent[1].message)[0].descriptor), 'b')
  t.equal(receiver.open(sent[1].message)[0].descriptor, undefined)
  for (const handle of [a, b]) handle.close()
})

t.test('descriptors for which a process has no room are missing, the last first', options, async t => {
  const program = `
    const fs = require('node:fs')
    const { loadAddon } = require('./lib/native/addon')
    const { addon } = loadAddon()
    const [from, to] = addon.socketpair()
    const fds = Array.from({ length: 5 }, () => fs.openSync('/dev/null'))
    addon.send(from, 'x', fds)
    const spare = []
    try { for (;;) spare.push(fs.openSync('/dev/null')) } catch {}
    for (const fd of spare.slice(-3)) fs.closeSync(fd)
    const { descriptors } = addon.receive(to)
    for (const fd of spare.slice(0, 9)) fs.closeSync(fd)
    console.log(descriptors.length, addon.receive(to))`
  const limited = 'ulimit -n 60; exec "$0" -e "$1"'
  t.equal(String(execFileSync('/bin/sh', ['-c', limited, process.execPath, program], { cwd: path.join(__dirname, '..', '..') })).trim(), '3 undefined')
})

t.test('a descriptor becomes a handle that Node can read and send; of what is no stream there is none', options, async t => {
  const server = net.createServer(socket => socket.end('hello')).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { sender, receiver, sent } = scene(t)
  const client = net.connect(server.address().port, '127.0.0.1')
  await new Promise(resolve => client.once('connect', resolve))
  client.pause()
  sender.add(offer(1, client._handle))
  sender.flush()
  const { descriptor } = receiver.open(sent[0].message)[0]
  const { handle } = descriptor
  t.equal(handle.constructor.name, 'TCP')
  t.equal(descriptor.fd, handle.fd)
  client.destroy()
  const socket = new net.Socket({ handle })
  let text = ''
  for await (const chunk of socket) text += chunk
  t.equal(text, 'hello')
  server.close()

  const none = file(t, 'a')
  t.equal(none.handle, null)
  t.equal(none.fd, -1, 'it is closed')
  none.close()
})
