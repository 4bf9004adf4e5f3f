'use strict'

require('../../../support/bare-children')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const t = require('tap')
const { CpuProbe } = require('../../../../lib/primary/measuring/meter/cpu')

/** @param {any} t tap's @param {string} program that prints when it has done */
async function start (t, program) {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

t.test('the CPU time of the process as a share of the time between two readings', async t => {
  const child = await start(t, 'console.log("up"); process.stdin.on("data", ms => { const { user, system } = process.cpuUsage(); const used = () => { const now = process.cpuUsage(); return (now.user + now.system - user - system) / 1000 }; while (used() < Number(ms)); console.log("done") })')
  const probe = new CpuProbe(/** @type {number} */ (child.pid))
  t.teardown(() => probe.close())
  t.equal(probe.percent, null)
  probe.look(1_000_000)
  t.equal(probe.percent, null, 'one reading gives no figure')
  child.stdin.write('500')
  await once(child.stdout, 'data')
  probe.look(1_000_999)
  t.equal(probe.percent, null, 'nor do two readings that are close together')
  probe.look(1_002_000) // the clock is that of the test: 500 ms of 2 s
  t.ok(probe.percent >= 24 && probe.percent <= 40, `${probe.percent} %`)
  probe.look(1_012_000)
  t.ok(probe.percent <= 2, `idle since: ${probe.percent} %`)
})

t.test('a process that has exited keeps its figure, and an unknown pid has none', async t => {
  const child = await start(t, 'console.log("up"); setInterval(() => {}, 1000)')
  const probe = new CpuProbe(/** @type {number} */ (child.pid))
  probe.look(1_000_000)
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.doesNotThrow(() => probe.look(1_005_000))
  t.equal(probe.percent, null)
  probe.close()
  t.doesNotThrow(() => probe.close())
  t.doesNotThrow(() => probe.look(1_010_000))
  const absent = new CpuProbe(/** @type {number} */ (child.pid))
  t.doesNotThrow(() => absent.look(1_000_000))
  t.equal(absent.percent, null)
})
