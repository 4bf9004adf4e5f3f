'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')

const OUTPUT = path.join(__dirname, '..', '..', '..', 'lib', 'primary', 'workers', 'prefix-output.js')

/** Runs a program whose lines are prefixed by a parent, and returns what that parent printed. @param {string} program */
async function printed (program) {
  const parent = spawn(process.execPath, ['-e', `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: ['ignore', 'pipe', 'pipe'] })
    require(${JSON.stringify(OUTPUT)}).prefixLines(child, () => 3)
  `], { stdio: ['ignore', 'pipe', 'pipe'] })
  const out = { stdout: '', stderr: '' }
  parent.stdout.on('data', chunk => { out.stdout += chunk })
  parent.stderr.on('data', chunk => { out.stderr += chunk })
  await once(parent, 'close')
  return out
}

t.test('each line is prefixed with its slot, stdout on stdout, stderr on stderr', async t => {
  const { stdout, stderr } = await printed("console.log('a\\n\\nb'); console.error('e')")
  t.equal(stdout, '[3] a\n[3] \n[3] b\n')
  t.equal(stderr, '[3] e\n')
})

t.test('a last line without a newline is not lost', async t => {
  const { stdout } = await printed("process.stdout.write('half')")
  t.equal(stdout, '[3] half\n')
})

t.test('a line that arrives in pieces, cut within a character, stays one line', async t => {
  const { stdout } = await printed(`
    const bytes = Buffer.from('größer\\r\\nlast')
    let at = 0
    const timer = setInterval(() => at < bytes.length ? process.stdout.write(bytes.subarray(at, ++at)) : clearInterval(timer), 1)
  `)
  t.equal(stdout, '[3] größer\n[3] last\n')
})

t.test('a worker without piped output is left alone', async t => {
  const { prefixLines } = require(OUTPUT)
  t.doesNotThrow(() => prefixLines(/** @type {any} */ ({ stdout: null, stderr: null }), () => 1))
})
