'use strict'

const t = require('tap')
const { Warnings } = require('../../lib/primary/warnings')

t.test('a warning is told once, of each thing that it is of, and once more when it has been over', async t => {
  /** @type {unknown[]} */
  const told = []
  /** @type {any} */
  const record = (/** @type {string} */ event, /** @type {any} */ { warning, why }) => told.push([event, warning, why])
  const warnings = new Warnings(record)
  for (const why of ['EMFILE', 'ENFILE']) warnings.warnOnce(/** @type {any} */ ({ warning: 'health', why }))
  for (const why of ['pinned', 'raw', 'pinned']) warnings.warnOnce(/** @type {any} */ ({ warning: 'stayed', why }), why)
  warnings.over('stayed')
  warnings.warnOnce(/** @type {any} */ ({ warning: 'stayed', why: 'raw' }), 'raw')
  warnings.over('health')
  warnings.warnOnce(/** @type {any} */ ({ warning: 'health', why: 'EPERM' }))
  t.same(told, [
    ['fleet.warning', 'health', 'EMFILE'], ['fleet.warning', 'stayed', 'pinned'], ['fleet.warning', 'stayed', 'raw'],
    ['fleet.warning', 'health', 'EPERM']
  ])
})
