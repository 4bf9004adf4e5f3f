'use strict'

const { setTimeout: wait } = require('node:timers/promises')
const t = require('tap')
const { startMold, skip } = require('../../support/mold')

const DELAY_MS = 500

t.test('timers that are pending in the mold begin anew in a copy, and Node\'s own go on', { skip }, async t => {
  const { mold, heard, forkOne } = await startMold(t, 'timers.js')
  t.equal(heard[0], 'loaded')
  await wait(1100) // all of them, and Node's cache of the date, are overdue
  for (const child of [forkOne(), forkOne()]) {
    const { fired, skewMs } = await child.said
    t.ok(fired.every(({ ms }) => ms > DELAY_MS / 2), 'none at once', { fired })
    t.same([...new Set(fired.map(({ name }) => name))].sort(), ['interval', 'promise', 'timeout'])
    t.ok(skewMs < 1000, 'the Date header is that of now', { skewMs })
    t.match(await child.ended, { code: 0, messages: [{ fired }] })
  }
  t.same(heard.slice(1), [`an immediate ran in ${mold.pid}`], 'what was due ran once, in the mold')
})
