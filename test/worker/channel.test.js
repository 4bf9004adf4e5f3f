'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const t = require('tap')

t.test('a write that fails tells the end of the channel, which Node may not have read yet', async t => {
  const file = path.join(t.testdir(), 'closed')
  const child = fork(path.join(__dirname, '../fixtures/writes-after-the-end.js'), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const said = text(child.stdout)
  const busy = once(child, 'message')
  child.send(file)
  await busy
  const closed = once(child, 'disconnect')
  child.disconnect()
  await closed
  fs.writeFileSync(file, '')
  t.same(JSON.parse(await said), { code: 'EPIPE', connected: true, isUp: false, isEnding: true })
})
