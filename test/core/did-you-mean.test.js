'use strict'

const t = require('tap')
const { nearest } = require('../../lib/core/did-you-mean')

const WORDS = ['workers', 'maxRss', 'maxRequests', 'samples', 'log']

t.test('what was probably meant', async t => {
  for (const [written, meant] of [['max-rss', 'maxRss'], ['MAXRSS', 'maxRss'], ['wrokers', 'workers'], ['sample', 'samples'], ['maxRequest', 'maxRequests'], ['lgo', 'log']]) {
    t.equal(nearest(written, WORDS), meant, written)
  }
})

t.test('nothing is suggested for what resembles nothing', async t => {
  for (const written of ['instances', 'x', '', 'port', '--']) t.equal(nearest(written, WORDS), null, written)
  t.equal(nearest('log', []), null)
})
