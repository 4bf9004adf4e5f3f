'use strict'

const t = require('tap')
const { Watch } = require('../../lib/primary/watch')

t.test('a look that fails, as where somebody who listens for events throws, is not the last', async t => {
  let looks = 0
  const fleet = {
    watched () {
      if (looks++ === 0) throw new Error('a listener has thrown')
      return []
    }
  }
  const watch = new Watch(/** @type {any} */ ({ options: { intervalMs: 1000, stuckTimeoutMs: 30_000 }, fleet }))
  await t.rejects(watch.look(), { message: 'a listener has thrown' })
  await watch.look()
  t.equal(looks, 2)
})
