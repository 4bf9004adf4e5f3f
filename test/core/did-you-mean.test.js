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

t.test('a letter that is missing, too many, wrong or swapped with the next is one edit each; two in five letters are the most', async t => {
  for (const [written, meant] of [['prt', 'port'], ['poort', 'port'], ['part', 'port'], ['prot', 'port'], ['smpls', 'samples']]) t.equal(nearest(written, ['port', 'samples']), meant, written)
  t.equal(nearest('form', ['from', 'form']), 'form', 'no edit is fewer than one')
  for (const [written, farther] of [['prt', 'xxt'], ['poort', 'pooxx'], ['part', 'paxx'], ['prot', 'prxx']]) t.equal(nearest(written, [farther, 'port']), 'port', `${written}: one edit is fewer than two`)
  t.equal(nearest('smpl', ['samples']), null)
  t.equal(nearest('opprt', ['port']), 'port')
})
