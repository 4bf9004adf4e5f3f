'use strict'

const t = require('tap')
const { SecondChanceSet } = require('../../../lib/features/sticky/second-chance')

t.test('what is used stays, however old it is; what is not used is forgotten', async t => {
  const set = new SecondChanceSet(100)
  set.add('busy')
  set.add('idle')
  for (let i = 0; i < 1000; i++) {
    set.add(`more ${i}`)
    set.has('busy')
    t.ok(set.size <= 100)
  }
  t.equal(set.has('busy'), true)
  t.equal(set.has('idle'), false)
  t.equal(set.has('more 999'), true)
})

t.test('where all are in use, it is bounded all the same', async t => {
  const set = new SecondChanceSet(50)
  for (let i = 0; i < 500; i++) {
    set.add(String(i))
    for (let j = 0; j <= i; j++) set.has(String(j))
  }
  t.equal(set.size, 50)
})

t.test('one is forgotten if it has not been used since this was last asked', async t => {
  const set = new SecondChanceSet(10)
  set.add('a')
  t.equal(set.forgetUnused('a'), false, 'it has just been added')
  set.has('a')
  t.equal(set.forgetUnused('a'), false)
  t.equal(set.forgetUnused('a'), true)
  t.equal(set.has('a'), false)
  t.equal(set.forgetUnused('b'), true, 'it is not there')
})

t.test('an addition takes no time that depends on how many there are', async t => {
  const set = new SecondChanceSet(50_000)
  const began = performance.now()
  for (let i = 0; i < 500_000; i++) set.add(String(i))
  t.ok(performance.now() - began < 10_000, `${Math.round(performance.now() - began)} ms`)
})
