'use strict'

const t = require('tap')
const { workerParts } = require('../../support/worker-parts')

const GET = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n'
const POST = 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n'
const PART = 'GET / HTTP/1.1\r\nHo'

/** The state after each chunk: between two messages, and which part of a head is known. */
const CASES = /** @type {[name: string, chunks: string[], states: [boolean, string | null][]][]} */ ([
  ['whole heads', [GET, GET], [[true, null], [true, null]]],
  ['the first in parts', [PART, 'st: here\r\n', '\r\n'], [[false, PART], [false, `${PART}st: here\r\n`], [true, null]]],
  ['a later one in parts', [GET, PART, 'st: here\r\n\r\n', PART], [[true, null], [false, PART], [true, null], [false, PART]]],
  ['a part behind a whole one', [GET + PART, 'st: here\r\n', '\r\n', PART], [[false, null], [false, null], [true, null], [false, PART]]],
  ['two, and a part', [GET + GET + PART, 'st: here\r\n\r\n', PART], [[false, null], [true, null], [false, PART]]],
  ['a body', [POST, 'ab', 'cd', PART], [[false, null], [false, null], [true, null], [false, PART]]],
  ['a body with a head behind it', [POST + 'ab', 'cd' + PART, 'st: here\r\n\r\n', PART], [[false, null], [false, null], [true, null], [false, PART]]],
  ['blank lines before the first', ['\r\n', '\r\n' + PART], [[true, ''], [false, '\r\n' + PART]]],
  ['blank lines between', [GET, '\r\n', PART], [[true, null], [true, null], [false, PART]]]
])

t.test('after each chunk it is known whether a message is under way, and without a call from the parser for each', async t => {
  const { connect } = await workerParts(t)
  for (const [name, chunks, states] of CASES) {
    const { client, connection } = await connect()
    const { head, socket } = /** @type {any} */ (connection)
    const { parser } = socket
    for (const [i, chunk] of chunks.entries()) {
      const until = socket.bytesRead + chunk.length
      client.write(chunk, 'latin1')
      while (socket.bytesRead < until) await new Promise(setImmediate)
      t.same([head.isBetweenMessages, head.part?.toString() ?? null], states[i], `${name}: chunk ${i}`)
      const isInBody = chunk.startsWith('POST') || chunk === 'ab'
      t.equal(parser[parser.constructor.kOnMessageBegin] !== null, isInBody, `${name}: watched within a body`)
    }
    client.destroy()
  }
})
