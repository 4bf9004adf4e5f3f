'use strict'

const t = require('tap')
const { isProxyHeader } = require('../../lib/core/proxy-protocol')

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** @param {number} told @param {number} [there] bytes behind the first 16 */
const v2 = (told, there = told) => Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, told >> 8, told & 255]), Buffer.alloc(there, 'x')])

t.test('a header of the PROXY protocol, to its end and no further', t => {
  for (const text of ['PROXY TCP4 10.1.1.1 10.0.0.1 5000 80\r\n', 'PROXY UNKNOWN\r\n']) {
    t.equal(isProxyHeader(Buffer.from(text)), true)
    t.equal(isProxyHeader(Buffer.from(text.slice(0, -1))), false)
    t.equal(isProxyHeader(Buffer.from(`${text}G`)), false)
    t.equal(isProxyHeader(Buffer.from(`${text}${text}`)), false)
  }
  for (const length of [0, 12, 300, 520]) {
    t.equal(isProxyHeader(v2(length)), true)
    t.equal(isProxyHeader(v2(length, length + 1)), false)
    if (length > 0) t.equal(isProxyHeader(v2(length, length - 1)), false)
  }
  for (const bytes of [v2(521), SIGNATURE, Buffer.from(`PROXY ${'x'.repeat(600)}\r\n`), Buffer.from('HELLO 1\r\n'), Buffer.alloc(0)]) {
    t.equal(isProxyHeader(bytes), false)
  }
  t.end()
})
