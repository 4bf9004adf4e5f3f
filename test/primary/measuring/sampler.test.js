'use strict'

const t = require('tap')
const { Sampler } = require('../../../lib/primary/measuring/sampler')

t.test('a look that fails is not the last', async t => {
  let looks = 0
  const fleet = {
    watched () {
      if (looks++ === 0) throw new Error('the journal cannot be written')
      return []
    }
  }
  const sampler = new Sampler(/** @type {any} */ ({ options: { intervalMs: 1000 }, fleet }))
  await t.rejects(sampler.look(), { message: 'the journal cannot be written' })
  await sampler.look()
  t.equal(looks, 2)
})

t.test('a worker whose replacement is decided is not looked at for each further request of it', async t => {
  const condemned = { reason: 'exception', condemnation: { requested: 'exception' } } // of which it has no figures
  const fleet = { watched: () => [condemned] }
  const sampler = new Sampler(/** @type {any} */ ({ options: { intervalMs: 1000 }, fleet }))
  await sampler.look({ requestedAlone: true })
  await t.rejects(sampler.look(), TypeError, 'at the interval it is')
})
