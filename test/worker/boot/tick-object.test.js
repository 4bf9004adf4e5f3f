'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const FILE = path.join(__dirname, '..', '..', '..', 'lib', 'worker', 'boot', 'tick-object.js')

t.test('a full collection does not take the type of what nextTick() makes', async t => {
  const log = path.join(t.testdir(), 'maps.log')
  const program = `
    require(${JSON.stringify(FILE)}).keepTickObject()
    require('node:v8').setFlagsFromString('--expose-gc')
    const gc = require('node:vm').runInNewContext('gc')
    const tick = left => { if (left > 0) process.nextTick(tick, left - 1) }
    const steps = [() => tick(100), gc, () => tick(100)]
    const step = () => { if (steps.length > 0) setImmediate(() => { steps.shift()(); step() }) }
    setTimeout(step, 1)`
  execFileSync(process.execPath, ['--log-maps', '--no-logfile-per-isolate', `--logfile=${log}`, '-e', program],
    { timeout: 20_000 })
  const made = fs.readFileSync(log, 'latin1').split('\n').filter(line =>
    line.startsWith('map,Transition') && line.includes('symbol("trigger_async_id_symbol"'))
  t.equal(made.length, 1)
})
