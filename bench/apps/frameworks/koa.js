'use strict'

const { setTimeout: passed } = require('node:timers/promises')
const Koa = require('koa')
const { signRoster } = require('../../support/sign-roster')

const app = new Koa()
app.use(async context => {
  if (context.path === '/slow') await passed(300)
  context.body = { hello: 'koa' }
})
app.listen(process.env.PORT, signRoster)
