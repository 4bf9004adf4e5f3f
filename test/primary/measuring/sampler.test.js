'use strict'

const t = require('tap')
const { Sampler } = require('../../../lib/primary/measuring/sampler')

t.test('sampling continues after an error, such as that of an event listener', async t => {
  let looks = 0
  const fleet = {
    watched () {
      if (looks++ === 0) throw new Error('a listener has thrown')
      return []
    }
  }
  const sampler = new Sampler(/** @type {any} */ ({ options: { intervalMs: 1000, stuckTimeoutMs: 30_000 }, fleet }))
  await t.rejects(sampler.look(), { message: 'a listener has thrown' })
  await sampler.look()
  t.equal(looks, 2)
})
