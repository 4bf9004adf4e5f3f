'use strict'

const fc = require('fast-check')
const t = require('tap')
const { pathHash, pathTemplate, textHash } = require('../../../lib/features/leaks/worker')

const SEED = textHash('GET')

t.test('ids become a placeholder, words stay', async t => {
  const expected = {
    '/': '/',
    '/users': '/users',
    '/users?page=2': '/users',
    '/users/17': '/users/:id',
    '/users/17/orders/18?x=1': '/users/:id/orders/:id',
    '/a/3f9a8c7b-1234-4abc-9def-1234567890ab': '/a/:id',
    '/commits/deadbeef42': '/commits/:id',
    '/facade/decade': '/facade/decade',
    '/v2/oauth2/s3': '/v2/oauth2/s3',
    '/2026-01-31/report': '/:id/report',
    '/assets/app.3f9a8c7b.js': '/assets/app.:id.js',
    '/sessions/V1StGXR8_Z5jdHi6B': '/sessions/:id',
    [`/blog/${'word-'.repeat(8)}`]: '/blog/:id',
    '/x#part': '/x',
    '//': '//',
    '*': '*',
    '': '/',
    '?x': '/'
  }
  for (const [url, template] of Object.entries(expected)) t.equal(pathTemplate(url), template, url)
})

t.test('a path is looked at up to 120 characters', async t => {
  t.equal(pathTemplate('/a'.repeat(500)).length, 120)
  t.equal(pathHash('/a'.repeat(500), SEED), pathHash('/a'.repeat(600), SEED))
})

t.test('two URLs have the same hash exactly where they have the same template', async t => {
  const part = fc.oneof(fc.constantFrom('users', 'v2', '17', '18', 'deadbeef42', 'cafebabe', '2026-01-31', 'a.b', '', '%20', 'é'), fc.string({ maxLength: 40 }))
  const url = fc.tuple(fc.array(part, { maxLength: 4 }), fc.constantFrom('', '?q=1', '#f')).map(([parts, end]) => `/${parts.join('/')}${end}`)
  fc.assert(fc.property(url, url, (a, b) =>
    (pathHash(a, SEED) === pathHash(b, SEED)) === (pathTemplate(a) === pathTemplate(b))), { numRuns: 5000, seed: 31 })
  t.pass()
})

t.test('the hash of a text goes on from that of the text before it', async t => {
  t.equal(textHash('bc', textHash('a')), textHash('abc'))
  t.not(textHash('GET'), textHash('PUT'))
})
