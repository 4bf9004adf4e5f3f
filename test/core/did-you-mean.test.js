'use strict'

const t = require('tap')
const { nearest } = require('../../lib/core/did-you-mean')

const WORDS = ['workers', 'maxRss', 'maxRequests', 'samples', 'log']

t.test('the nearest known word is suggested', async t => {
  for (const [written, meant] of [['max-rss', 'maxRss'], ['MAXRSS', 'maxRss'], ['wrokers', 'workers'], ['sample', 'samples'], ['maxRequest', 'maxRequests'], ['lgo', 'log']]) {
    t.equal(nearest(written, WORDS), meant, written)
  }
})

t.test('nothing is suggested for a word that resembles no known one', async t => {
  for (const written of ['instances', 'x', '', 'port', '--']) t.equal(nearest(written, WORDS), null, written)
  t.equal(nearest('log', []), null)
})
