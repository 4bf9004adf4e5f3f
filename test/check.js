'use strict'

/**
 * Runs scripts of package.json at the same time; prints what those say that fail, and exits with 1. The one behind
 * --beside has the terminal meanwhile: `node test/check.js lint types --beside tap`.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')

const names = process.argv.slice(2)
const at = names.indexOf('--beside')
const shown = at < 0 ? [] : names.splice(at).slice(1)

/**
 * @param {string} script
 * @param {boolean} [isShown]
 * @returns {Promise<{ script: string, code: number | null, output: string }>}
 */
async function run (script, isShown = false) {
  const child = spawn('npm', ['run', '--silent', script], { stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', text => { output += text })
  const [code] = await once(child, 'close')
  return { script, code, output }
}

Promise.all([...names.map(name => run(name)), ...shown.map(name => run(name, true))]).then(runs => {
  for (const { script, code, output } of runs.filter(({ code }) => code !== 0)) {
    console.error(`npm run ${script} failed, code ${code}${output && `:\n${output}`}`)
    process.exitCode = 1
  }
})
