'use strict'

const fc = require('fast-check')
const t = require('tap')
const { FrameBoundary } = require('../../../lib/worker/websockets/frame-boundary')

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10]

/** A client's frame. @param {{ opcode: number, isFinal?: boolean, length: number }} frame @returns {Buffer} */
function frame ({ opcode, isFinal = true, length }) {
  const size = length < 126
    ? [length]
    : length < 65_536
      ? [126, length >> 8, length & 255]
      : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255]
  return Buffer.concat([
    Buffer.from([(isFinal ? 0x80 : 0) | opcode, size[0] | 0x80, ...size.slice(1), 1, 2, 3, 4]),
    Buffer.alloc(length, 0x81)
  ])
}

/** @param {Buffer[]} chunks */
function read (chunks) {
  const boundary = new FrameBoundary()
  for (const chunk of chunks) boundary.push(chunk)
  return boundary
}

t.test('however the bytes come, whole frames are counted, and what has come of the next one is kept', async t => {
  const length = fc.oneof(fc.nat(10), fc.nat(300), fc.constantFrom(125, 126, 127, 65_535, 65_536, 70_000))
  const one = fc.record({ opcode: fc.constantFrom(TEXT, BINARY, PING, PONG), length })
  fc.assert(fc.property(fc.array(one, { maxLength: 6 }), one, fc.nat(80_000),
    fc.array(fc.nat(5000), { maxLength: 20 }), (whole, next, cut, sizes) => {
      const last = frame(next)
      const part = last.subarray(0, cut % last.length)
      let bytes = Buffer.concat([...whole.map(frame), part])
      const chunks = []
      for (const size of sizes) {
        chunks.push(bytes.subarray(0, size))
        bytes = bytes.subarray(size)
      }
      const boundary = read([...chunks, bytes])
      return boundary.frames === whole.length && boundary.rest !== null && boundary.rest.equals(part)
    }), { numRuns: 200 })
})

t.test('between the fragments of a message there is no boundary, also behind a ping', async t => {
  const [first, ping, second, last] = [{ opcode: TEXT, isFinal: false, length: 5 }, {
    opcode: PING, length: 3
  }, { opcode: CONTINUATION, isFinal: false, length: 200 }, { opcode: CONTINUATION, length: 0 }].map(frame)
  t.equal(read([first]).rest, null)
  t.match(read([first, ping]), { rest: null, frames: 1 })
  t.equal(read([first, ping, second]).rest, null)
  const all = read([first, ping, second, last])
  t.same([all.rest?.length, all.frames], [0, 2])
})

t.test('a frame that closes is none that is emitted', async t => {
  t.match(read([frame({ opcode: CLOSE, length: 2 })]), { frames: 0 })
})

t.test('of a long frame that has come in part nothing is kept, and the next one is found', async t => {
  const long = frame({ opcode: BINARY, length: 1_500_000 })
  const boundary = read([long.subarray(0, 1_200_000)])
  t.equal(boundary.rest, null)
  boundary.push(long.subarray(1_200_000))
  boundary.push(frame({ opcode: TEXT, length: 4 }).subarray(0, 3))
  t.same([boundary.frames, boundary.rest?.length], [1, 3])
})
