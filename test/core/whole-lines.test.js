'use strict'

const t = require('tap')
const fc = require('fast-check')
const { MOST_HELD_BYTES, WholeLines, prefixLines } = require('../../lib/core/whole-lines')

/** @param {Buffer[]} chunks @returns {Buffer[]} */
function cut (chunks) {
  const lines = new WholeLines()
  return [...chunks.map(chunk => lines.push(chunk)), lines.end()].filter(bytes => bytes !== null)
}

t.test('whatever the chunks, what comes out is what went in, and each piece but the last ends with a newline', async t => {
  const byte = fc.oneof(fc.constantFrom(10, 13), fc.nat(255))
  fc.assert(fc.property(fc.array(fc.array(byte, { maxLength: 20 }).map(bytes => Buffer.from(bytes)), { maxLength: 20 }),
    chunks => {
      const pieces = cut(chunks)
      return Buffer.concat(pieces).equals(Buffer.concat(chunks)) &&
      pieces.slice(0, -1).every(piece => piece.at(-1) === 10)
    }))
  t.pass()
})

t.test('a carriage return, U+2028 and bytes that are not UTF-8 end no line and are not changed', async t => {
  const bytes = Buffer.concat([Buffer.from('a\rb\u2028c\u2029d\x0b\x0c\x85'), Buffer.from([0xff, 0xc3, 0x28, 0x00]), Buffer.from('\r\n')])
  const [line, ...more] = cut([...bytes].map(byte => Buffer.of(byte)))
  t.same(line, bytes)
  t.same(more, [])
  t.same(prefixLines(line, '[3] ', false), Buffer.concat([Buffer.from('[3] '), bytes]))
})

t.test('output without a newline is held up to a limit, and goes on in parts: it needs no more memory, however long it is', async t => {
  const lines = new WholeLines()
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let heldBytes = 0
  let mostBytes = 0
  for (let i = 0; i < 1000; i++) {
    heldBytes += chunk.length
    const part = lines.push(chunk)
    heldBytes -= part?.length ?? 0
    mostBytes = Math.max(mostBytes, heldBytes)
  }
  t.equal(mostBytes, MOST_HELD_BYTES, 'bytes at most')
  t.equal(MOST_HELD_BYTES, 1024 * 1024, 'a line of 1 MiB is whole')
})

t.test('the mark stands before each line, before an empty one too, and not before the rest of a line', async t => {
  const marked = (/** @type {string} */ text, isRest = false) => prefixLines(Buffer.from(text), '[1] ', isRest).toString()
  t.equal(marked('a\n\nb\n'), '[1] a\n[1] \n[1] b\n')
  t.equal(marked('a\nhalf'), '[1] a\n[1] half')
  t.equal(marked('rest\nb\n', true), 'rest\n[1] b\n')
  t.equal(marked('$& $1\n'), '[1] $& $1\n')
})

t.test('what is held of a chunk is a copy of its own: the rest of the chunk takes no memory', async t => {
  const chunk = Buffer.from('line\nhalf')
  const lines = new WholeLines()
  t.equal(String(lines.push(chunk)), 'line\n')
  chunk.fill('x')
  t.equal(String(lines.end()), 'half')
})
