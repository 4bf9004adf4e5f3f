'use strict'

const t = require('tap')
const { surviveRecycles } = require('./under-load')

for (const app of ['express.js', 'fastify.js', 'koa.js', 'nest.mjs']) {
  t.test(`${app}, unmodified, drops nothing`, t => surviveRecycles(t, app))
}

t.test('express.js without hand-off, a connection per request, drops nothing', t =>
  surviveRecycles(t, 'express.js', { options: { handoff: false }, load: { keepAlive: false } }))
