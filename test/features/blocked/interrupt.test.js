'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')
const { loadInterrupt } = require('../../../lib/features/blocked/interrupt')
const { extent } = require('../../support/campaign')

const TIMES = extent({ short: 20, long: 100 })
const FOLDER = path.join(__dirname, '..', '..', '..', 'lib', 'features', 'blocked')
const skip = loadInterrupt().missing ?? false

const WAYS = {
  'an endless loop': 'for (;;);',
  'code that allocates': 'for (let kept = []; ; kept = kept.length > 1e5 ? [] : kept) kept.push({})',
  'a regular expression': "/^(a+)+$/.test('a'.repeat(60) + 'b')",
  'promises without end': '(async () => { for (;;) await null })()', // most often V8 is between two functions
  'Atomics.wait': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
}

for (const [what, code] of Object.entries(WAYS)) {
  t.test(`the stack of ${what}, ${TIMES} times; a throw there ends nothing`, { skip }, async t => {
    const { child, told } = await blocks(t, `function busy () { ${code} }\nsetTimeout(busy, 1)`)
    for (let i = 1; i <= TIMES; i++) {
      child.kill('SIGURG')
      t.match(await told(i), what === 'promises without end' ? /^\[/ : /busy/, `${i}`)
    }
    t.equal(child.exitCode, null)
  })
}

t.test('a process that exits meanwhile exits as ever', { skip }, async t => {
  const { child } = await blocks(t, 'setTimeout(() => process.exit(7), 300)')
  const exited = once(child, 'exit')
  while (child.exitCode === null) {
    child.kill('SIGURG')
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  t.same(await exited, [7, null])
})

/** @param {any} t @param {string} code */
async function blocks (t, code) {
  const script = `
    const { loadInterrupt } = require(${JSON.stringify(path.join(FOLDER, 'interrupt'))})
    const { stackOf } = require(${JSON.stringify(path.join(FOLDER, 'worker'))})
    const tell = () => {
      require('node:fs').writeSync(1, JSON.stringify(stackOf(tell, 20)) + '\\n')
      throw new Error('as it may')
    }
    const { addon } = loadInterrupt()
    if (!addon.onSignal(23, tell) || addon.onSignal(23, tell)) throw new Error('it takes one function')
    require('node:fs').writeSync(1, 'up\\n')
    ${code}`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.on('data', chunk => { text += chunk })
  const lines = async (/** @type {number} */ count) => {
    for (let i = 0; i < 1000 && text.split('\n').length <= count; i++) await new Promise(resolve => setTimeout(resolve, 5))
    return text.split('\n')[count - 1]
  }
  await lines(1)
  await new Promise(resolve => setTimeout(resolve, 50)) // it is busy
  return { child, told: (/** @type {number} */ i) => lines(1 + i) }
}
