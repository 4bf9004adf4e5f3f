'use strict'

const t = require('tap')
const { makeSample } = require('../../lib/core/sample')
const { openWindow, pushSample } = require('../../lib/core/window')

const sampleAt = (/** @type {number} */ at) =>
  makeSample(null, { ageMs: at, requests: 0, silentMs: 0, requested: null })

t.test('a window is empty at first', async t => {
  t.same(openWindow(), { samples: [] })
})

t.test('a window keeps the latest samples, oldest first', async t => {
  let window = openWindow()
  for (let at = 1; at <= 5; at++) window = pushSample(window, sampleAt(at), 3)
  t.same(window.samples.map(s => s.ageMs), [3, 4, 5])
  t.equal(pushSample(window, sampleAt(6), 1).samples.length, 1)
})

t.test('pushing makes a new window and leaves the old one as it was', async t => {
  const before = pushSample(openWindow(), sampleAt(1), 2)
  const after = pushSample(before, sampleAt(2), 2)
  t.equal(before.samples.length, 1)
  t.equal(after.samples.length, 2)
  for (const value of [before, after, after.samples]) t.ok(Object.isFrozen(value))
})
