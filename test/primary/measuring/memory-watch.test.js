'use strict'

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { resolveOptions } = require('../../../lib/tables/resolved-options')
const { Container } = require('../../../lib/primary/measuring/container')
const { MemoryWatch } = require('../../../lib/primary/measuring/memory-watch')

const MIB = 1024 ** 2

/**
 * A watch of a container of 500 MiB, whose files the test writes.
 *
 * @param {any} t @param {Record<string, any>} [given]
 */
function watchOf (t, given = {}) {
  const root = t.testdir({
    proc: { self: { cgroup: '0::/', mountinfo: '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw' }, meminfo: 'MemTotal: 8388608 kB\n' },
    sys: { fs: { cgroup: { 'memory.max': String(500 * MIB) } } }
  })
  const write = (/** @type {string} */ name, /** @type {string | number} */ text) => fs.writeFileSync(path.join(root, 'sys/fs/cgroup', name), String(text))
  write('memory.current', 100 * MIB)
  write('memory.events', 'max 40\noom_kill 2\n')
  /** @type {Record<string, any>[]} */
  const lines = []
  const container = new Container(root)
  const options = resolveOptions({ interval: '1s', ...given }, { parallelism: 2, container: container.limits() })
  const figures = { freshBytes: 40 * MIB }
  const handle = Object.assign(new EventEmitter(), { left: null, process: { isKilled: false }, figures })
  const watch = new MemoryWatch(/** @type {any} */ ({
    options,
    container,
    fleet: { watched: () => [handle] },
    record: (/** @type {string} */ event, /** @type {any} */ fields) => lines.push({ event, ...fields })
  }))
  return { watch, write, lines, handle: /** @type {any} */ (handle) }
}

t.test('each look is recorded, with what has happened since the start', async t => {
  const { watch, write, lines } = watchOf(t)
  t.equal(watch.latest, null)
  watch.look()
  write('memory.events', 'max 47\noom_kill 3\n')
  watch.look()
  t.same(lines.map(({ limitHits, oomKills }) => [limitHits, oomKills]), [[0, 0], [7, 1]])
  t.match(lines[1], { event: 'fleet.memory', source: 'cgroup v2', limitBytes: 500 * MIB, usedBytes: 100 * MIB, freshBytes: 40 * MIB, pressure: null })
  t.equal(watch.latest?.usedBytes, 100 * MIB)
})

t.test('near the limit it says so once, and the next look is sooner', async t => {
  const { watch, write, lines } = watchOf(t)
  const at = (/** @type {number} */ mib) => {
    write('memory.current', mib * MIB)
    watch.look()
    return watch.nextLookMs
  }
  t.same([at(100), at(400), at(460), at(470), at(420), at(300), at(460)], [1000, 500, 250, 250, 500, 1000, 250])
  const said = lines.filter(({ event }) => event === 'fleet.warning')
  t.match(said, [{ warning: 'memory-limit', usedBytes: 460 * MIB, limitBytes: 500 * MIB, nextLookMs: 250 }, { warning: 'memory-limit' }])
  t.equal(said.length, 2)
})

t.test('a SIGKILL is the kernel\'s if its counter has grown, and the primary has sent none', async t => {
  const { watch, write, handle } = watchOf(t)
  const left = (/** @type {any} */ { left, isKilled = false }) => watch.wasOomKilled(Object.assign(handle, { left, process: { killedFor: isKilled ? 'kill-timeout' : null } }))
  t.equal(left({ left: { code: null, signal: 'SIGKILL' } }), false, 'by hand')
  write('memory.events', 'max 40\noom_kill 3\n')
  t.equal(left({ left: { code: 1, signal: null } }), false)
  t.equal(left({ left: { code: null, signal: 'SIGKILL' }, isKilled: true }), false, "by the primary: the kernel's kill was of another process")
  t.equal(left({ left: { code: null, signal: 'SIGKILL' } }), true)
  t.equal(left({ left: { code: null, signal: 'SIGKILL' } }), false, 'a kill is of one process')
})

t.test('budgets that do not fit are said', async t => {
  const { watch, lines } = watchOf(t, { workers: 2, maxRss: '300MiB' })
  watch.start()
  t.match(lines, [{ warning: 'over-committed', softBytes: 300 * MIB, limitBytes: 500 * MIB, workers: 2, beside: 1, fitting: 0 }])
})
