'use strict'

const express = require('express')
const { signRoster } = require('../../support/sign-roster')

const app = express()
app.get('/', (request, response) => response.json({ hello: 'express' }))
app.get('/slow', (request, response) => setTimeout(() => response.json({ hello: 'express' }), 300))
app.listen(process.env.PORT, signRoster)
