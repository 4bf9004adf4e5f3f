'use strict'

const t = require('tap')
const { countRequests, requestName, LONGEST_REQUEST } = require('../../lib/core/request-name')

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

t.test('of requests in flight the latest are named, each with how many there are', async t => {
  const heads = ['/b', '/a', '/b', '/c', '/a'].map(url => ({ method: 'GET', url }))
  t.same(countRequests(heads, 2), [{ request: 'GET /b', count: 2 }, { request: 'GET /a', count: 2 }])
  t.same(countRequests([], 2), [])
})
