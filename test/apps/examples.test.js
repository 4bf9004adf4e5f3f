'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { get } = require('../support/client')
const { checkRecycles } = require('./under-load')

const folder = path.join(__dirname, '..', '..', 'examples')

const apps = fs.readdirSync(folder).filter(name => /\.m?js$/.test(name) && name !== 'demo.js')
for (const name of apps) {
  t.test(`examples/${name} serves and can be recycled`, async t => {
    const { port, supervisor, events } = await startFleet(t, path.join(folder, name), { workers: 1 })
    t.match(await get(port), { status: 200, body: /./ })
    await supervisor.recycle(0)
    t.match(await get(port), { status: 200 })
    checkRecycles(t, events)
  })
}
