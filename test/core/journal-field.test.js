'use strict'

const t = require('tap')
const { handleLine } = require('../../lib/core/journal-field')

t.test('a line has the handler of its event; one of any other name has none, whatever an object has by that', async t => {
  /** @type {unknown[]} */
  const handled = []
  const handlers = { 'fleet.start': line => handled.push(line.app) }
  for (const event of ['fleet.start', '__defineGetter__', 'constructor', '__proto__', 7, null]) handleLine(handlers, { event, app: event })
  t.same(handled, ['fleet.start'])
})
