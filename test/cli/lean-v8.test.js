'use strict'

// With tap's loader V8 may enlarge the young generation before the first line of a program runs
require('../support/bare-children')
const { execFileSync } = require('node:child_process')
const t = require('tap')

const FILE = require.resolve('../../lib/cli/lean-v8')

/**
 * What a program in a process of its own prints.
 *
 * @param {string} program in which `lean` is the module @param {string[]} [flags]
 */
function run (program, flags = []) {
  return execFileSync(process.execPath, [...flags, '-e', `const lean = require(${JSON.stringify(FILE)}); ${program}`], { encoding: 'utf8' })
}

t.test('the young generation stays at its first size where objects survive, and grows where it may', async t => {
  const [small, grown] = ['begin', 'end'].map(how => Number(run(`
    lean.${how}()
    const kept = []
    for (let i = 0; i < 2_000_000; i++) kept[i % 300_000] = { i }
    console.log(require('node:v8').getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size)`)))
  t.comment(`${small / 1024} KiB, ${grown / 1024} KiB`)
  t.ok(small <= 3 * 1024 * 1024, `${small} bytes`)
  t.ok(grown >= 4 * small, `${grown} bytes`)
})

t.test('hot functions are compiled only when the process has been busy since its fleet was ready, or replaces a worker', async t => {
  const hot = 'let sum = 0; const add = i => { sum += i }; const work = () => { for (let i = 0; i < 300_000; i++) add(i) }; const often = () => { for (let i = 0; i < 15; i++) work() }'
  const ready = 'const supervisor = new (require("node:events"))(); lean.compileWhenBusy(supervisor)'
  const isCompiled = (/** @type {string[]} */ ...program) => /completed optimizing/.test(run([hot, ...program].join('; '), ['--trace-opt']))
  t.ok(isCompiled('often()'))
  t.ok(isCompiled('lean.begin()', 'lean.end()', 'often()'))
  t.notOk(isCompiled('lean.begin()', 'often()'))
  t.notOk(isCompiled('lean.begin()', 'often()', ready, 'setTimeout(work, 1500)'), 'not for what was before')
  t.ok(isCompiled('lean.begin()', ready, 'setInterval(work, 40)', 'setTimeout(process.exit, 4000)'))
  t.notOk(isCompiled('lean.begin()', ready, 'supervisor.emit("event", { event: "worker.sample" })', 'often()'))
  t.ok(isCompiled('lean.begin()', ready, 'supervisor.emit("event", { event: "worker.spawn" })', 'often()'))
})
