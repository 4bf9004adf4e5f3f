'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const t = require('tap')

const TRACE = path.join(__dirname, '..', '..', 'bench', 'support', 'gc-trace.js')

// A thread opens a file just after standard output was closed, and keeps it for a moment, as the C library does at
// times.
const MEANWHILE = `
  const fs = require('node:fs')
  const { Worker, isMainThread, workerData } = require('node:worker_threads')
  const [READY, CLOSED, OPENED] = [1, 2, 3]
  if (workerData instanceof Int32Array) {
    Atomics.store(workerData, 0, READY)
    Atomics.notify(workerData, 0)
    Atomics.wait(workerData, 0, READY)
    const fd = fs.openSync(__filename)
    Atomics.store(workerData, 0, OPENED)
    Atomics.notify(workerData, 0)
    Atomics.wait(workerData, 0, OPENED, 20)
    fs.closeSync(fd)
  } else if (isMainThread && require('node:cluster').isWorker) {
    const turn = new Int32Array(new SharedArrayBuffer(4))
    new Worker(__filename, { workerData: turn, execArgv: [] }).unref()
    Atomics.wait(turn, 0, 0)
    const { closeSync } = fs
    fs.closeSync = fd => {
      closeSync(fd)
      if (fd !== 1) return
      fs.closeSync = closeSync
      Atomics.store(turn, 0, CLOSED)
      Atomics.notify(turn, 0)
      Atomics.wait(turn, 0, CLOSED)
    }
  }
`
const PRIMARY = `
  const cluster = require('node:cluster')
  const [, exec, ...preloads] = process.argv
  cluster.setupPrimary({ exec, execArgv: ['--trace-gc', '--expose-gc', ...preloads.map(file => '--require=' + file)] })
  cluster.fork()
`

t.test('V8 prints to the file of its worker, whatever another thread opens meanwhile', t => {
  const folder = t.testdir({ gc: {}, 'meanwhile.js': MEANWHILE, 'app.js': 'gc(); process.exit()' })
  const { status, stderr } = spawnSync(process.execPath, ['-e', PRIMARY, path.join(folder, 'app.js'), path.join(folder, 'meanwhile.js'), TRACE],
    { env: { ...process.env, GC_TRACE_DIR: path.join(folder, 'gc') }, encoding: 'utf8', timeout: 60_000 })
  t.same([status, stderr], [0, ''])
  const [file, ...others] = fs.readdirSync(path.join(folder, 'gc'))
  t.same(others, [])
  t.match(fs.readFileSync(path.join(folder, 'gc', file), 'utf8'), /^\d+(\.\d+)?\n[^]*Mark-/)
  t.end()
})
