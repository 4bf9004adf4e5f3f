// Decorators are called as functions, so that no compiler is needed.
import 'reflect-metadata'
import { setTimeout as passed } from 'node:timers/promises'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import roster from '../../support/sign-roster.js'

class Hello {
  hello () {
    return { hello: 'nest' }
  }

  async slow () {
    await passed(300)
    return { hello: 'nest' }
  }
}
for (const [path, name] of [['', 'hello'], ['slow', 'slow']]) Get(path)(Hello.prototype, name, Object.getOwnPropertyDescriptor(Hello.prototype, name))
Controller()(Hello)

class App {}
Module({ controllers: [Hello] })(App)

const app = await NestFactory.create(App, { logger: false })
await app.listen(process.env.PORT)
roster.signRoster()
