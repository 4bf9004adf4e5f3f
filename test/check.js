'use strict'

/**
 * Runs scripts of package.json at the same time, each on a CPU of its own; prints what those say that fail, and exits
 * with 1.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')

/** @param {string} script @returns {Promise<{ script: string, code: number | null, output: string }>} */
async function run (script) {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { output += text })
  const [code] = await once(child, 'close')
  return { script, code, output }
}

Promise.all(process.argv.slice(2).map(run)).then(runs => {
  for (const { script, code, output } of runs.filter(({ code }) => code !== 0)) {
    console.error(`npm run ${script} failed, code ${code}:\n${output}`)
    process.exitCode = 1
  }
})
