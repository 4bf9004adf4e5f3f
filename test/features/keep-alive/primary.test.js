'use strict'

const { Heard } = require('../../support/heard')
const t = require('tap')
const feature = require('../../../lib/features/keep-alive/feature')
const { warnOfShort } = require('../../../lib/features/keep-alive/primary')

t.test('what several workers tell is one warning, in the journal and in status()', async t => {
  /** @type {any[]} */
  const lines = []
  const part = /** @type {any} */ (warnOfShort(/** @type {any} */ ({
    options: { keepAliveTimeoutMs: null },
    record: (/** @type {string} */ event, /** @type {any} */ fields) => lines.push({ event, ...fields })
  })))
  const { lines: sayStatus } = /** @type {any} */ (feature.status)
  const paint = (/** @type {string} */ _, /** @type {string} */ text) => text
  t.same(sayStatus(part.describe(), paint), [])
  for (const slot of [0, 1]) {
    const handle = Object.assign(new Heard(), { slot, pid: 100 + slot })
    part.connect(handle)
    handle.say('proxy-idle', { header: 'Via', idleMs: 4812.4, timeoutMs: 5000 })
  }
  t.same(lines, [{ event: 'fleet.warning', warning: 'keep-alive-timeout', slot: 0, pid: 100, header: 'Via', idleMs: 4812.4, timeoutMs: 5000 }])
  const [sentence] = sayStatus(part.describe(), paint)
  t.match(sentence, /^a proxy \(Via\) sends requests on connections that have been idle for 4\.8s, and the app closes idle ones after 5s, .*--keep-alive-timeout/)
  t.equal(/** @type {any} */ (feature.warnings)['keep-alive-timeout'](lines[0]), sentence)
})
