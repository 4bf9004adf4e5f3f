'use strict'

const { spawn } = require('node:child_process')
const t = require('tap')
const { stoppedBy } = require('../../../lib/features/blocked/primary')
const { becomesTrue } = require('../../support/processes')

t.test('a process that runs, sleeps or does not exist is held by nothing', async t => {
  t.equal(stoppedBy(process.pid), null)
  t.equal(stoppedBy(2 ** 30), null)
})

t.test('one that a signal has stopped is, until it is continued', { skip: process.platform !== 'linux' && 'this needs /proc' }, async t => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  child.kill('SIGSTOP')
  t.ok(await becomesTrue(() => stoppedBy(Number(child.pid)) === 'signal'))
  child.kill('SIGCONT')
  t.ok(await becomesTrue(() => stoppedBy(Number(child.pid)) === null))
})

t.test('so is one that a debugger holds', async t => {
  t.equal(stoppedBy(1, () => 'Name:\tnode\nState:\tt (tracing stop)\nTgid:\t1\nTracerPid:\t4711\n'), 'debugger')
  t.equal(stoppedBy(1, () => 'Name:\tnode\nState:\tS (sleeping)\nTracerPid:\t4711\n'), 'debugger', 'strace lets it run')
  t.equal(stoppedBy(1, () => 'Name:\tT\nState:\tR (running)\nTracerPid:\t0\n'), null)
})
