'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const t = require('tap')
const { ProcfsProbe, parseSmaps } = require('../../../../lib/primary/measuring/meter/procfs')

const MIB = 1024 ** 2
const isLinux = fs.existsSync('/proc/self/smaps_rollup')

/** @type {import('../../../../lib/tables/budget').Budget} */
const NONE = { metric: 'rss', softBytes: null, hardBytes: null, samples: 2, maxRequests: null, maxAgeMs: null }

/** A process that has touched some memory and then does not change. @param {any} t @param {number} [mib] */
async function startIdle (t, mib = 0) {
  const child = spawn(process.execPath, ['-e', `global.held = Buffer.alloc(${mib} * 1048576, 1); process.stdout.write('up'); setInterval(() => {}, 1e6)`], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data')
  return { child, pid: /** @type {number} */ (child.pid) }
}

/** @param {number} value @param {number} meant @param {number} share */
const isWithin = (value, meant, share) => Math.abs(value - meant) <= share * meant

t.test('smaps are summed up over all mappings, USS from its two parts', async t => {
  const mapping = (/** @type {number} */ n) => [
    `5581a000${n}000-5581a010${n}000 r-xp 00000000 08:01 123  /usr/bin/node`, 'Size: 4096 kB', 'KernelPageSize: 4 kB',
    `Rss:                 ${100 * n} kB`, `Anonymous:            ${40 * n} kB`, 'AnonHugePages: 77 kB', `Pss:                  ${10 * n} kB`, `Pss_Dirty:            ${7 * n} kB`, 'Shared_Clean: 77 kB', 'Shared_Dirty: 77 kB',
    `Private_Clean:         ${2 * n} kB`, `Private_Dirty:         ${3 * n} kB`, 'SwapPss: 5 kB', 'VmFlags: rd ex mr mw me'
  ].join('\n')
  t.same(parseSmaps(`${mapping(1)}\n${mapping(2)}\n`), { rssBytes: 300 * 1024, anonBytes: 120 * 1024, pssBytes: 30 * 1024, ussBytes: 15 * 1024 })
  t.same(parseSmaps(''), { rssBytes: 0, anonBytes: 0, pssBytes: 0, ussBytes: 0 })
})

t.test('the kernel\'s files', { skip: !isLinux && 'this needs /proc/<pid>/smaps_rollup' }, async t => {
  const { pid } = await startIdle(t, 32)

  t.test('smaps and smaps_rollup of one process agree', async t => {
    const [smaps, rollup] = ['smaps', 'smaps_rollup'].map(file => parseSmaps(fs.readFileSync(`/proc/${pid}/${file}`, 'latin1')))
    for (const key of /** @type {const} */ (['rssBytes', 'pssBytes', 'ussBytes'])) {
      t.ok(isWithin(smaps[key], rollup[key], 0.03), `${key}: ${smaps[key]}, ${rollup[key]}`)
    }
    t.ok(rollup.ussBytes > 32 * MIB && rollup.ussBytes <= rollup.pssBytes && rollup.pssBytes <= rollup.rssBytes)
  })

  t.test('and so do those of the process that reads them', async t => {
    const [smaps, rollup] = ['smaps', 'smaps_rollup'].map(file => parseSmaps(fs.readFileSync(`/proc/self/${file}`, 'latin1')))
    t.ok(isWithin(smaps.rssBytes, rollup.rssBytes, 0.05))
    t.ok(isWithin(rollup.rssBytes, process.memoryUsage.rss(), 0.05))
  })

  for (const file of /** @type {const} */ (['smaps_rollup', 'smaps'])) {
    t.test(`the first reading is a full one, by ${file}`, async t => {
      const probe = new ProcfsProbe(pid, file, { budget: NONE })
      const reading = await probe.read(1000)
      const actual = parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
      t.equal(reading?.meter, file)
      for (const key of /** @type {const} */ (['rssBytes', 'pssBytes', 'ussBytes'])) {
        t.ok(isWithin(/** @type {number} */ (reading?.[key]), actual[key], 0.03), key)
      }
      probe.close()
    })
  }

  t.test('far from the budget statm is read, with a full reading every ten seconds for the record', async t => {
    const probe = new ProcfsProbe(pid, 'smaps_rollup', { budget: { ...NONE, softBytes: 10_000 * MIB } })
    t.equal((await probe.read(0))?.meter, 'smaps_rollup')
    const guard = await probe.read(9999)
    t.match(guard, { meter: 'statm', pssBytes: null, ussBytes: null })
    const { anonBytes } = parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
    t.ok(isWithin(Number(guard?.anonBytes), anonBytes, 0.05), `statm: ${guard?.anonBytes}, smaps_rollup: ${anonBytes}`)
    const actual = parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
    t.ok(isWithin(/** @type {number} */ (guard?.rssBytes), actual.rssBytes, 0.05), `statm ${guard?.rssBytes}, smaps_rollup ${actual.rssBytes}`)
    t.equal((await probe.read(10_000))?.meter, 'smaps_rollup')
    t.equal((await probe.read(10_001))?.meter, 'statm')
    probe.close()
  })

  t.test('near the budget every reading is a full one', async t => {
    for (const metric of /** @type {const} */ (['rss', 'pss', 'uss'])) {
      const now = parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
      const bytes = now[/** @type {'rssBytes'} */ (`${metric}Bytes`)]
      const near = new ProcfsProbe(pid, 'smaps_rollup', { budget: { ...NONE, metric, softBytes: Math.round(bytes * 1.1) } })
      const far = new ProcfsProbe(pid, 'smaps_rollup', { budget: { ...NONE, metric, softBytes: bytes * 4 } })
      await near.read(0)
      await far.read(0)
      t.equal((await near.read(1))?.meter, 'smaps_rollup', metric)
      t.equal((await far.read(1))?.meter, 'statm', metric)
      near.close()
      far.close()
    }
  })
})

t.test('statm shows the growth', { skip: !isLinux && 'this needs /proc' }, async t => {
  const child = spawn(process.execPath, ['-e', "process.on('message', n => { global.held = Buffer.alloc(n, 1); process.send('done') }); process.send('up')"], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const probe = new ProcfsProbe(/** @type {number} */ (child.pid), 'smaps_rollup', { budget: NONE })
  const before = await probe.read(0)
  child.send(64 * MIB)
  await once(child, 'message')
  const after = await probe.read(1)
  t.equal(after?.meter, 'statm')
  t.ok(/** @type {number} */ (after?.rssBytes) - /** @type {number} */ (before?.rssBytes) > 60 * MIB)
  probe.close()
})

t.test('a process that has exited has no reading', { skip: !isLinux && 'this needs /proc' }, async t => {
  const { child, pid } = await startIdle(t)
  const probes = [new ProcfsProbe(pid, 'smaps_rollup', { budget: NONE }), new ProcfsProbe(pid, 'smaps', { budget: NONE })]
  t.ok(await probes[0].read(0))
  child.kill('SIGKILL')
  await once(child, 'exit')
  for (const probe of probes) {
    t.equal(await probe.read(1), null)
    probe.close()
    t.equal(await probe.read(2), null, 'nor has a closed probe')
    t.doesNotThrow(() => probe.close())
  }
})
