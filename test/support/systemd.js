'use strict'

/**
 * A systemd of the test's own, as of a user, in namespaces of processes and mounts: it runs units as the system's does.
 */

require('./bare-children')
const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { becomesTrue, childrenOf } = require('./processes')
const { lacking } = require('./program')

const execFile = promisify(require('node:child_process').execFile)

const MANAGER = '/lib/systemd/systemd'
const CGROUPS = '/sys/fs/cgroup'
const RUNTIME = '/run/user/0'
const NAMESPACES = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child']
// /run is empty there, but for what a systemd that has booted the machine would have made. bare-children.js sets the
// variable.
const BEGIN = `set -e
unset RECYCLE_CONTROL
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system ${RUNTIME}/systemd/user
cp "$1"/* ${RUNTIME}/systemd/user
${MANAGER} --user --unit=idle.target` // it refuses to be PID 1

/** Why tests with it are skipped; false: it works here. */
function lackingSystemd () {
  const missing = lacking(MANAGER)
  if (missing) return missing
  if (process.getuid?.() !== 0) return 'it needs root'
  if (fs.readdirSync(CGROUPS).length === 0) return `no control groups are mounted on ${CGROUPS}`
  const { error, status, stderr } = spawnSync('unshare', [...NAMESPACES, 'true'])
  return (error || status !== 0) && `namespaces are not available: ${error?.message ?? String(stderr).trim()}`
}

/**
 * @param {any} t tap's
 * @param {Record<string, string>} units their text, by file name
 * @returns {Promise<(...argv: string[]) => Promise<string>>} runs a program there: resolves with what it prints,
 *   rejects where it fails
 */
async function startSystemd (t, units) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  for (const [name, text] of Object.entries({ 'idle.target': '[Unit]\nDescription=nothing\n', ...units })) fs.writeFileSync(path.join(folder, name), text)
  const manager = spawn('unshare', [...NAMESPACES, 'sh', '-c', BEGIN, 'sh', folder], {
    env: { PATH: process.env.PATH, HOME: '/', XDG_RUNTIME_DIR: RUNTIME, SYSTEMD_LOG_TARGET: 'console' }, stdio: ['ignore', 'ignore', 'pipe']
  })
  let said = ''
  manager.stderr.setEncoding('utf8').on('data', text => { said += text })
  const exited = new Promise(resolve => manager.once('close', resolve))
  t.teardown(async () => {
    manager.kill('SIGKILL')
    await exited
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const root = () => `/proc/${childrenOf(/** @type {number} */ (manager.pid))[0]?.pid}/root`
  if (!await becomesTrue(() => fs.existsSync(`${root()}${RUNTIME}/systemd/private`))) throw new Error(`systemd does not start: ${said}`)
  const { pid } = childrenOf(/** @type {number} */ (manager.pid))[0]
  return async (...argv) => (await execFile('nsenter', ['-t', String(pid), '--mount', '--pid', 'env', `XDG_RUNTIME_DIR=${RUNTIME}`, ...argv])).stdout.trim()
}

module.exports = { startSystemd, lackingSystemd }
