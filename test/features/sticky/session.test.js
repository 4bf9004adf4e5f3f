'use strict'

const t = require('tap')
const fc = require('fast-check')
const { parseSessionKey, sessionBegunIn, sessionOf } = require('../../../lib/features/sticky/session')

/** @param {string} text */
const key = text => /** @type {any} */ (parseSessionKey(text))

/** @param {string} by @param {Record<string, any>} asked */
const of = (by, asked) => sessionOf(key(by), { url: '/', headers: {}, socket: {}, ...asked })

t.test('a key is a kind and a name', async t => {
  t.same(parseSessionKey('cookie:connect.sid'), { by: 'cookie', name: 'connect.sid' })
  t.same(parseSessionKey('header:Mcp-Session-Id'), { by: 'header', name: 'mcp-session-id' })
  t.same(parseSessionKey('ip'), { by: 'ip', name: '' })
  t.same(parseSessionKey('path:3'), { by: 'path', name: '3' })
  for (const text of ['', 'cookie', 'cookie:', 'ip:', 'cookie:a=b', 'cookie:a;b', 'body:a', ' ip', 'path:0', 'path:x', 'path:100', `header:${'x'.repeat(101)}`]) t.equal(parseSessionKey(text), undefined, text)
})

t.test('by cookie: the whole name, wherever it stands', async t => {
  const cookie = (/** @type {string} */ text) => of('cookie:sid', { headers: { cookie: text } })
  t.equal(cookie('sid=1'), '1')
  t.equal(cookie('a=2; sid=1; b=3'), '1')
  t.equal(cookie('a=2;sid=1'), '1')
  t.equal(cookie('xsid=2; sid2=3; a=sid=4; sid=1'), '1')
  t.equal(cookie('sid=a=b'), 'a=b')
  t.equal(cookie('sid=1; sid=2'), '1', 'the first, as the cookie parsers of frameworks')
  for (const text of ['', 'sid', 'sid=', 'xsid=1', 'a=sid=1', 'SID=1']) t.equal(cookie(text), null, text)
  t.equal(of('cookie:sid', {}), null)
})

t.test('by query, header and address', async t => {
  t.equal(of('query:sid', { url: '/socket.io/?EIO=4&sid=abc&t=1' }), 'abc')
  t.equal(of('query:sid', { url: '/sid=abc' }), null)
  t.equal(of('query:sid', { url: '/?xsid=abc' }), null)
  t.equal(of('header:X-Session', { headers: { 'x-session': 'abc' } }), 'abc')
  t.equal(of('header:X-Session', { headers: { 'x-session': '' } }), null)
  t.equal(of('path:3', { url: '/echo/000/abcd/xhr?t=1' }), 'abcd')
  t.equal(of('path:1', { url: '/echo' }), 'echo')
  for (const url of ['/', '/echo', '/echo/000', '/echo/000/', '/echo/000?a/b/c', '*']) t.equal(of('path:3', { url }), null, url)
  t.equal(of('ip', { socket: { remoteAddress: '::1' } }), '::1')
})

t.test('of a long session, such as a JWT, the end counts', async t => {
  const [one, two] = ['a', 'b'].map(last => of('header:x', { headers: { x: 'x'.repeat(4000) + last } }))
  t.equal(one?.length, 200)
  t.not(one, two)
})

t.test('a response begins a session by its cookie, its header or the begin of its body', async t => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nset-cookie: theme=sid=5\r\nSET-COOKIE: sid=abc; Path=/; HttpOnly\r\nX-Session: def \r\n\r\n'
  t.equal(sessionBegunIn(key('cookie:sid'), head, ''), 'abc')
  t.equal(sessionBegunIn(key('cookie:other'), head, ''), null)
  t.equal(sessionBegunIn(key('cookie:theme'), head, ''), 'sid=5')
  t.equal(sessionBegunIn(key('cookie:Path'), head, ''), null, 'an attribute is none')
  t.equal(sessionBegunIn(key('header:x-session'), head, ''), 'def')
  t.equal(sessionBegunIn(key('header:session'), head, ''), null)
  t.equal(sessionBegunIn(key('query:sid'), '', '0{"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"]}'), 'lv_VI97HAXpY6yYWAAAC')
  t.equal(sessionBegunIn(key('query:sid'), '', ' '.repeat(2000) + '"sid":"x"'), null)
  const stream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n'
  t.equal(sessionBegunIn(key('query:sessionId'), stream, 'event: endpoint\ndata: /messages?a=1&sessionId=6a-7b\n\n'), '6a-7b', 'MCP over SSE')
  t.equal(sessionBegunIn(key('query:sessionId'), head, 'data: /messages?sessionId=6a\n\n'), null, 'a page with a link begins none')
  t.equal(sessionBegunIn(key('query:sessionId'), stream, 'event: endpoint\ndata: /messages?xsessionId=6a\n\n'), null)
  t.equal(sessionBegunIn(key('query:a.b'), '', '"axb":"x"'), null)
  t.equal(sessionBegunIn(key('ip'), head, ''), null)
})

t.test('what a cookie says is found again in what Set-Cookie said', async t => {
  const token = fc.stringMatching(/^[\w%.-]{1,60}$/)
  fc.assert(fc.property(token, fc.array(fc.tuple(token, token), { maxLength: 4 }), (value, others) => {
    const begun = sessionBegunIn(key('cookie:sid'), `HTTP/1.1 200 OK\r\nSet-Cookie: sid=${value}; Path=/\r\n\r\n`, '')
    const rest = others.filter(([name]) => name !== 'sid').map(([name, value]) => `${name}=${value}`)
    return begun === of('cookie:sid', { headers: { cookie: [...rest, `sid=${value}`].join('; ') } }) && begun === value
  }))
})

t.test('whatever a client sends is read without an error', async t => {
  // 'binary' takes a second to set up
  const anyText = fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 300 })
    .map(points => String.fromCodePoint(...points))
  fc.assert(fc.property(anyText, text => {
    for (const by of ['cookie:sid', 'query:sid', 'header:sid']) of(by, { url: `/?${text}`, headers: { cookie: text, sid: text } })
    for (const by of ['cookie:sid', 'query:sid', 'header:sid']) sessionBegunIn(key(by), text, text)
  }))
})
