'use strict'

const t = require('tap')
const fc = require('fast-check')
const { isReplaySafe, toWire } = require('../../lib/core/request-replay')

/** @param {string} method @param {string[]} headers */
const head = (method, headers = []) => ({ method, url: '/', version: '1.1', headers: ['Host', 'here', ...headers] })

t.test('GET, HEAD and OPTIONS without a body are safe, and others where they are marked', async t => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) t.equal(isReplaySafe(head(method)), true, method)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'get']) {
    t.equal(isReplaySafe(head(method)), false, method)
    t.equal(isReplaySafe(head(method), { isMarked: true }), true, `${method}, marked`)
  }
})

t.test('nothing is safe that has more than a head', async t => {
  for (const more of [['Content-Length', '1'], ['content-length', '0', 'CONTENT-LENGTH', '5'], ['Transfer-Encoding', 'chunked'], ['EXPECT', '100-continue'], ['Upgrade', 'h2c'], ['Content-Length', 'x']]) {
    t.equal(isReplaySafe(head('GET', more), { isMarked: true }), false, more.join(' '))
  }
  t.equal(isReplaySafe(head('GET', ['Content-Length', '0'])), true)
  t.equal(isReplaySafe(head('GET', ['X-Upgrade', '1'])), true)
  t.equal(isReplaySafe(head('GET', ['X', 'x'.repeat(1_000_000)])), false)
})

t.test('nothing is safe that another parser may read otherwise, or of which the parser has left out headers', async t => {
  for (const more of [['X', 'a\r\n b'], ['X', 'a\rb'], ['X', 'a\nb: c'], ['X', '\0'], ['X ', '1'], ['', '1'], ['X:', '1'], ['X\r\nY', '1'], ['Content-Length', '0x0'], ['Content-Length', ''], ['Content-Length', '0, 0']]) {
    t.equal(isReplaySafe(head('GET', more)), false, JSON.stringify(more))
  }
  for (const url of ['', '/ HTTP/1.1\r\nX: y', '/a b', '/\t', '/\0']) t.equal(isReplaySafe({ ...head('GET'), url }), false, JSON.stringify(url))
  t.equal(isReplaySafe(head('GET', ['X', '1']), { mostFields: 4 }), false)
  t.equal(isReplaySafe(head('GET', ['X', '1']), { mostFields: 6 }), true)
})

t.test('a head goes over the wire as it came', async t => {
  const octets = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,20}$/)
  const name = fc.stringMatching(/^[A-Za-z-]{1,12}$/)
  fc.assert(fc.property(fc.array(fc.tuple(name, octets), { maxLength: 8 }), pairs => {
    const wire = toWire({ method: 'GET', url: '/a?b=%20', version: '1.0', headers: pairs.flat() }).toString('latin1')
    const lines = wire.split('\r\n')
    return lines[0] === 'GET /a?b=%20 HTTP/1.0' && wire.endsWith('\r\n\r\n') && pairs.every(([name, value], i) => lines[i + 1] === `${name}: ${value}`)
  }))
})
