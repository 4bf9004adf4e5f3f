'use strict'

const t = require('tap')
const { startMold, skip } = require('../../support/mold')

for (const when of ['unused', 'used']) {
  t.test(`what a process has works in a copy, ${when} before the fork`, { skip }, async t => {
    const { forkOne } = await startMold(t, 'machinery.js', { args: [when] })
    const child = forkOne()
    const results = await child.said
    t.same(Object.entries(results).filter(([, result]) => result !== true), [])
    t.ok(Object.keys(results).length > 10)
    t.match(await child.ended, { code: 0, signal: null })
  })
}
