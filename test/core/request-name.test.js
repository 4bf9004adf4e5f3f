'use strict'

const t = require('tap')
const { requestName, LONGEST_REQUEST } = require('../../lib/core/request-name')

t.test('a request is named by its method and path, without the query', async t => {
  t.equal(requestName({ method: 'GET', url: '/a/b?token=1?2' }), 'GET /a/b')
  t.equal(requestName({ method: 'OPTIONS', url: '*' }), 'OPTIONS *')
  t.equal(requestName({ method: 'GET', url: '' }), 'GET ')
})

t.test('a name that is too long is cut', async t => {
  const name = requestName({ method: 'GET', url: `/${'x'.repeat(500)}` })
  t.equal(name.length, LONGEST_REQUEST)
  t.match(name, /^GET \/x+$/)
})
