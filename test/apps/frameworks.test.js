'use strict'

const t = require('tap')
const { extent } = require('../support/campaign')
const { surviveRecycles } = require('./under-load')

// Two workers hand connections to each other, too.
for (const [app, workers] of /** @type {const} */ ([['express.js', 2], ['fastify.js', 1], ['koa.js', 1], ['nest.mjs', 1]])) {
  t.test(`${app}, unmodified, drops nothing`, t => surviveRecycles(t, app, extent({ short: { options: { workers } }, long: {} })))
}

t.test('express.js without hand-off, a connection per request, drops nothing', t =>
  surviveRecycles(t, 'express.js', { options: { handoff: false }, load: { keepAlive: false } }))
