'use strict'

const t = require('tap')
const { leakSentence } = require('../../../lib/features/leaks/route-memory')

const of = (/** @type {string} */ route, /** @type {number} */ bytes, leaks = true) => /** @type {any} */ ({
  route, bytesPerRequest: bytes, leaks
})

t.test('the route that leaks, and how much; of more than one how many', async t => {
  t.equal(leakSentence(null, [of('GET /a', 2048.4)], ''), 'GET /a keeps about 2 KiB of each request')
  t.equal(leakSentence(null, [of('GET /a', 1.6), of('GET /b', 1)], ''), 'GET /a keeps about 2 B of each request; 1 more route leaks')
  t.equal(leakSentence(null, [of('GET /a', 1024), of('GET /b', 1), of('GET /c', 1)], ''), 'GET /a keeps about 1 KiB of each request; 2 more routes leak')
  t.equal(leakSentence(null, [of('GET /0', 9, false), of('GET /a', 1024), of('GET /b', 1, false)], ''), 'GET /a keeps about 1 KiB of each request', 'the others are not named')
})

t.test('why it is not known whether one leaks', async t => {
  const routes = [of('GET /a', 2048)]
  t.equal(leakSentence('few-samples', routes, ''), 'not enough evidence that a route leaks: too few collections so far')
  t.match(leakSentence('no-mark-sweep', routes, 'GET /a'), /a route leaks: GET \/a stands out, but no worker has finished a mark-sweep yet/)
  t.match(leakSentence('one-route', routes, ''), /there is one route/)
  t.match(leakSentence('unclear', routes, ''), /no route stands out$/)
})
