'use strict'

require('../../../support/bare-children')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const t = require('tap')
const { ProcFile } = require('../../../../lib/primary/measuring/meter/proc-file')

const isLinux = fs.existsSync('/proc/self/smaps_rollup')
/** @param {number} pid @param {string} name the number of descriptors that this process has open on it */
const descriptors = (pid, name) => fs.readdirSync('/proc/self/fd').filter(fd => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`) === `/proc/${pid}/${name}`
  } catch {
    return false // the descriptor of readdir itself
  }
}).length

t.test('files of /proc', { skip: !isLinux && 'this needs /proc' }, async t => {
  const child = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.write('answered when cat has mapped all that it needs: its memory changes no more')
  await once(child.stdout, 'data')
  const pid = /** @type {number} */ (child.pid)
  t.teardown(() => child.kill('SIGKILL'))

  t.test('every reading has the present content, by either call', async t => {
    const rollup = new ProcFile(pid, 'smaps_rollup')
    const statm = new ProcFile(pid, 'statm')
    for (let i = 0; i < 3; i++) {
      t.match(await rollup.read(), /^Rss: +[1-9]\d* kB$/m)
      t.equal(statm.bytes.toString('latin1', 0, statm.readSync()), fs.readFileSync(`/proc/${pid}/statm`, 'latin1'))
    }
    t.equal(descriptors(pid, 'smaps_rollup'), 1)
    rollup.close()
    statm.close()
    statm.close()
    t.equal(descriptors(pid, 'smaps_rollup') + descriptors(pid, 'statm'), 0)
    t.equal(await rollup.read(), '')
    t.equal(statm.readSync(), 0)
  })

  t.test('a file closed during a reading is released when the last reading has ended', async t => {
    const rollup = new ProcFile(pid, 'smaps_rollup')
    const readings = [rollup.read(), rollup.read()]
    rollup.close()
    t.equal(descriptors(pid, 'smaps_rollup'), 1)
    for (const text of await Promise.all(readings)) t.match(text, /^Rss:/m)
    t.equal(descriptors(pid, 'smaps_rollup'), 0)
  })

  t.test('a process that has exited has no reading, nor has an unknown pid', async t => {
    const files = [new ProcFile(pid, 'statm'), new ProcFile(pid, 'smaps_rollup')]
    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(files[0].readSync(), 0)
    t.equal(await files[1].read(), '')
    files.forEach(file => file.close())
    t.equal(new ProcFile(pid, 'statm').readSync(), 0)
  })
})
