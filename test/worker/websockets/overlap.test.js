'use strict'

/** What is written of a WebSocket that is open to the app in two workers. */

const { EventEmitter } = require('node:events')
const t = require('tap')
const { Messages, closeOf } = require('../../../lib/worker/websockets/frames')
const { Overlap } = require('../../../lib/worker/websockets/overlap')

/** @param {string} text @param {number} [head] */
function frame (text, head = 0x81) {
  const { length } = text
  const size = length < 126 ? [length] : [126, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([head, ...size]), Buffer.from(text)])
}

class Socket extends EventEmitter {
  /** @type {string[]} */
  written = []
  destroyed = false

  write (bytes, done) {
    this.written.push(String(bytes.subarray(bytes[1] < 126 ? 2 : 4)))
    done?.()
    return true
  }
}

/** @param {any} t tap's @param {Record<string, any>} [how] */
function begin (t, how) {
  const socket = new Socket()
  const asked = []
  const arrived = {
    ask: mark => asked.push(mark),
    hear: fn => { arrived.take = about => fn({ bytes: Buffer.alloc(0), ...about }) },
    take: about => {}
  }
  const overlap = new Overlap(socket, { arrived, close: () => {}, ...how })
  t.teardown(() => socket.emit('close'))
  const send = (text, head) => socket.write(frame(text, head))
  const other = (texts, about) => arrived.take({ bytes: Buffer.concat(texts.map(text => frame(text))), ...about })
  return { overlap, asked, written: socket.written, send, other }
}

t.test('what the other worker has sent comes first, and what both send comes once', t => {
  const { asked, written, send, other } = begin(t)
  send('3')
  send('4')
  t.same([asked, written], [[1], []])
  other(['1', '2'])
  other(['3'], { mark: 1 })
  t.same(written, ['1', '2', '3'], 'the 4 was sent behind the question')
  t.same(asked, [1, 2])
  other(['4', '5'], { mark: 2 })
  send('5')
  other(['6'], { mark: 3 })
  t.same(written, ['1', '2', '3', '4', '5', '6'])
  send('6')
  send('7')
  other([], { isOver: true })
  send('7')
  t.same(written.slice(6), ['7', '7'], 'equal ones of one worker are two')
  t.end()
})

t.test('of equal messages as many are written as the worker that sends more has sent', t => {
  const { written, send, other } = begin(t)
  other(['tick', 'tick'], { mark: 0 })
  for (let i = 0; i < 3; i++) send('tick')
  other([], { isOver: true })
  t.same(written, ['tick', 'tick', 'tick'])
  t.end()
})

t.test('pings are not compared: each is to be answered', t => {
  const { written, send, other } = begin(t, { keyOf: message => String(message).includes('probe') ? null : message })
  other(['probe'])
  send('probe')
  send('here', 0x89)
  send('here', 0x89)
  other([], { isOver: true })
  t.same(written, ['probe', 'probe', 'here', 'here'])
  t.end()
})

t.test('long ones and fragments, as they come in parts', t => {
  const { written, overlap } = begin(t)
  const bytes = Buffer.concat([frame('a', 0x01), frame('x', 0x89), frame('b'.repeat(300), 0x80)])
  for (const byte of bytes) overlap.socket.write(Buffer.from([byte]))
  overlap.socket.emit('close')
  t.same(written, [])
  const messages = new Messages()
  t.same([...bytes].flatMap(byte => messages.push(Buffer.from([byte]))).map(({ length }) => length), [3, 307])
  t.equal(messages.takeRest().length, 0)
  t.same(closeOf(frame('\u0003\u00f4', 0x88)) !== null, true)
  t.end()
})

t.test('the other worker\'s app can close it', t => {
  const closes = []
  const { overlap } = begin(t, { close: (code, reason) => closes.push([code, reason]) })
  overlap.arrived.take({ bytes: Buffer.from([0x88, 5, 0x0f, 0xa0, 98, 121, 101]) })
  t.same(closes, [[4000, 'bye']])
  t.end()
})
