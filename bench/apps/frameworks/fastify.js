'use strict'

const { setTimeout: passed } = require('node:timers/promises')
const fastify = require('fastify')()
const { signRoster } = require('../../support/sign-roster')

fastify.get('/', async () => ({ hello: 'fastify' }))
fastify.get('/slow', () => passed(300, { hello: 'fastify' }))
fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' }, signRoster)
