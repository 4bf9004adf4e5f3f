'use strict'

// Two million small permanent objects, and requests that make ordinary garbage and replace a few of them: in the V8 of
// 2012 a second of delay every few seconds.
const http = require('node:http')

const OBJECTS = 2_000_000
const sprite = i => ({ x: i, y: i, last: null })
const sprites = Array.from({ length: OBJECTS }, (_, i) => sprite(i))
let next = 0

http.createServer((request, response) => {
  let sum = 0
  for (let i = 0; i < 1000; i++) sum += sprite(i).x
  for (let i = 0; i < 100; i++, next = (next + 7919) % OBJECTS) sprites[next] = sprite(sum)
  response.end(String(sprites[next].x))
}).listen(process.env.PORT)
