'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { FIXTURES, startCli } = require('../support/fleet')

t.test('the kernel alone, without one feature, recycles by RSS and drops nothing', async t => {
  const loaded = path.join(t.testdir(), 'loaded.json')
  const env = { NODE_OPTIONS: `--require ${path.join(FIXTURES, 'no-features.js')}`, LOADED: loaded }
  const { port, child, events, exited } = await startCli(
    t, ['-w', '2', '--max-rss', '100MiB', '--jitter', '0', '--interval', '100ms', path.join(FIXTURES, 'leaky.js')], { env }
  )
  await events.until('fleet.ready')
  const recycled = events.until('recycled', { count: 2 }).then(() => true)
  const statuses = new Set()
  for (let isDone = false; !isDone;) {
    const { status } = await get(port)
    statuses.add(status)
    isDone = await Promise.race([recycled, new Promise(resolve => setImmediate(resolve, false))])
  }
  t.same([...statuses], [200])
  t.match(await events.until('recycled'), { reason: /^(hard-)?rss$/, cut: 0, unaccounted: 0 })
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })

  const { files, rssBytes } = JSON.parse(fs.readFileSync(loaded, 'utf8'))
  t.same(files.filter((/** @type {string} */ file) => /^(?:features\/[^/]+\/|tools\/)/.test(file)), [])
  t.comment(`${files.length} files of lib/ loaded in the primary, ${Math.round(rssBytes / 2 ** 20)} MiB`)
})
