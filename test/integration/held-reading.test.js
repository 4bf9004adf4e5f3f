'use strict'

/**
 * A kernel that does not answer how much memory a worker has, as while a page of it is to come from a file system that
 * does not answer.
 */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli, FIXTURES } = require('../support/fleet')
const { compile, lacking: skip } = require('../support/preloaded')

t.test('readings that never return stop neither verdicts nor commands nor the stop, and are told', { skip }, async t => {
  const library = compile(t, 'held-reads.cc')
  const held = path.join(path.dirname(library), 'held')
  fs.writeFileSync(held, '')
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '-i', '100ms', '--max-rss', '80MiB', '--admin', '0', path.join(FIXTURES, 'leaky.js')], { env: { LD_PRELOAD: library, HELD: held } })
  const { url } = await events.until('fleet.admin')
  await events.until('worker.ready', { count: 2 })
  const warning = await events.until('fleet.warning')
  t.match(warning, { warning: 'meter', file: 'smaps_rollup' })
  while (events.all('recycled').length === 0) await get(port)
  t.match(events.all('recycled')[0], { reason: /^(hard-)?rss$/, cut: 0 })
  child.kill('SIGHUP')
  await events.until('fleet.reloaded')
  const status = async () => JSON.parse((await get(Number(new URL(url).port), '/status')).body).workers
  let workers = await status()
  while (workers.some(({ rssBytes }) => rssBytes === null)) workers = await status() // a new worker has no sample yet
  t.ok(workers.every(({ pssBytes }) => pssBytes === null), 'RSS alone is known')

  fs.rmSync(held)
  while ((await status()).some(({ pssBytes }) => pssBytes === null));
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})
