'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const t = require('tap')
const { pickMeter } = require('../../../../lib/primary/measuring/meter')

const isLinux = fs.existsSync('/proc/self/smaps_rollup')
/** @type {import('../../../../lib/tables/budget').Budget} */
const NONE = { metric: 'rss', softBytes: null, hardBytes: null, samples: 2, maxRequests: null, maxAgeMs: null }

for (const metric of ['pss', 'uss']) {
  t.test(`pidusage cannot read ${metric}, and says so before the fleet starts`, async t => {
    t.throws(() => pickMeter({ meter: 'pidusage', metric }), {
      code: 'RECYCLE_METRIC_UNSUPPORTED',
      exitCode: 2,
      message: new RegExp(`^the meter pidusage cannot read metric ${metric} here: it gives rss alone; use --metric rss`)
    })
  })
}

t.test('on Linux auto is smaps_rollup, for every metric', { skip: !isLinux && 'this needs /proc/<pid>/smaps_rollup' }, async t => {
  for (const metric of ['rss', 'pss', 'uss']) t.equal(pickMeter({ meter: 'auto', metric }).name, 'smaps_rollup')
  t.equal(pickMeter({ meter: 'smaps', metric: 'pss' }).name, 'smaps')
})

for (const meter of isLinux ? ['smaps_rollup', 'smaps', 'pidusage'] : ['pidusage']) {
  t.test(`${meter} reads a real process, and notices its end`, async t => {
    const child = spawn(process.execPath, ['-e', "global.held = Buffer.alloc(32 * 1048576, 1); process.stdout.write('up'); setInterval(() => {}, 1e6)"], { stdio: ['ignore', 'pipe', 'ignore'] })
    t.teardown(() => child.kill('SIGKILL'))
    await once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data')
    const probe = pickMeter({ meter, metric: 'rss' }).probe(/** @type {number} */ (child.pid), { budget: NONE })
    const reading = await probe.read(0)
    t.equal(reading?.meter, meter)
    t.ok(/** @type {number} */ (reading?.rssBytes) > 40 * 1024 ** 2 && /** @type {number} */ (reading?.rssBytes) < 200 * 1024 ** 2, `${reading?.rssBytes}`)
    t.equal(reading?.pssBytes === null, meter === 'pidusage')
    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(await probe.read(1), null)
    probe.close()
  })
}

t.test('two processes measured by pidusage do not disturb each other', async t => {
  const children = [0, 1].map(() => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' }))
  t.teardown(() => children.forEach(child => child.kill('SIGKILL')))
  const meter = pickMeter({ meter: 'pidusage', metric: 'rss' })
  const [a, b] = children.map(child => meter.probe(/** @type {number} */ (child.pid), { budget: NONE }))
  t.ok(await a.read(0))
  a.close()
  t.ok(await b.read(0))
  b.close()
})
