'use strict'

/** A fleet of a campaign, started by the command line: its workers, its journal, and the processes that the kernel lists for it. */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../lib/control/client')
const { get } = require('../support/client')
const { startCli, FIXTURES } = require('../support/fleet')
const { becomesTrue, childrenOf, livingOfGroup } = require('../support/processes')

const WORKERS = 3
const LOOK_MS = 250
const DISK = '16m'
const SETTLED_MS = 45_000
const COMMON = ['-w', String(WORKERS), '-i', '100ms', '--jitter', '0', '--drain-timeout', '6s', '--kill-timeout', '1s', '--stop-linger', '300ms', '--ready-timeout', '8s', '--stuck-timeout', '2s']

/** @type {Record<string, string[]>} */
const VARIANTS = {
  surge: [],
  standby: ['--standby', '1'],
  'drain first': ['--max-surge', '0', '--max-unavailable', '1'],
  'without hand-off': ['--no-handoff'],
  'requests move': ['--replay-after', '0'],
  'forked workers': ['--fork', 'mold']
}

class CampaignFleet {
  /** @type {import('./invariants').Processes[]} */
  processes = []
  /** Earlier files of the journal, oldest first. @type {string[]} */
  moved = []

  /**
   * @param {Awaited<ReturnType<typeof startCli>>} cli
   * @param {import('../../lib/control/client').Client} control
   * @param {string} folder of its files, deleted at the end
   * @param {boolean} hasDisk the folder is a small disk of its own
   * @param {(() => unknown)[]} teardowns
   */
  constructor (cli, control, folder, hasDisk, teardowns) {
    this.cli = cli
    this.port = cli.port
    this.pid = /** @type {number} */ (cli.child.pid)
    this.events = cli.events
    this.control = control
    this.folder = folder
    this.hasDisk = hasDisk
    this.teardowns = teardowns
    this.timer = setInterval(() => {
      const children = childrenOf(this.pid)
      const of = (/** @type {boolean} */ isZombie) => children.filter(({ state }) => (state === 'Z') === isZombie).map(({ pid }) => pid)
      this.processes.push({ t: Date.now(), living: of(false), zombies: of(true) })
    }, LOOK_MS)
  }

  /** @param {string} variant @returns {Promise<CampaignFleet>} when all its workers are ready */
  static async start (variant) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
    const hasDisk = mountDisk(folder)
    fs.chmodSync(folder, 0o700)
    /** @type {(() => unknown)[]} */
    const teardowns = []
    const socket = path.join(folder, 'control')
    const args = [...COMMON, ...VARIANTS[variant], '--journal', path.join(folder, 'journal'), '--control', socket, path.join(FIXTURES, 'victim.js')]
    const cli = await startCli({ teardown: (/** @type {() => unknown} */ end) => teardowns.push(end) }, args, { env: { DEEDS: folder } })
    await cli.events.until('worker.ready', { count: WORKERS })
    return new CampaignFleet(cli, await connect(socket), folder, hasDisk, teardowns)
  }

  /** @param {string} verb @param {Record<string, any>} [args] @returns {Promise<any>} its result, or the error */
  async call (verb, args) {
    return this.control.call(verb, args).catch(error => error)
  }

  /** @returns {Promise<{ slot: number, pid: number, state: string }[]>} */
  async workers () {
    const { workers = [] } = await this.call('status')
    return workers
  }

  /** Has a worker do a deed of the app's. @param {number} pid @param {string} deed */
  deed (pid, deed) {
    fs.writeFileSync(path.join(this.folder, String(pid)), deed)
    return this.signal(pid, 'SIGUSR2')
  }

  /** What each worker does from now on in place of listening. @param {string | null} deed */
  boot (deed) {
    const file = path.join(this.folder, 'boot')
    if (deed) fs.writeFileSync(file, deed)
    else fs.rmSync(file, { force: true })
  }

  /** As a rotation does. */
  moveJournal () {
    const file = path.join(this.folder, 'journal')
    if (!fs.existsSync(file)) return
    this.moved.push(`${file}.${this.moved.length}`)
    fs.renameSync(file, `${file}.${this.moved.length - 1}`)
  }

  /** Fills its disk. @returns {() => void} frees it */
  fillDisk () {
    const file = path.join(this.folder, 'filler')
    try {
      for (const block = Buffer.alloc(4096); ;) fs.appendFileSync(file, block)
    } catch {} // ENOSPC
    return () => fs.rmSync(file)
  }

  /** @param {number} pid @param {NodeJS.Signals} signal @returns {boolean} whether the process existed */
  signal (pid, signal) {
    try {
      return process.kill(pid, signal)
    } catch {
      return false
    }
  }

  /** Resolves when all is as desired, and a request is answered. @returns {Promise<boolean>} false: not in time */
  async settled () {
    for (const deadline = Date.now() + SETTLED_MS; Date.now() < deadline;) {
      const { workers, totals } = await this.call('status')
      if (!totals) return false
      if (totals.ready === totals.workers && workers.every((/** @type {any} */ { state }) => ['ready', 'standby'].includes(state))) return (await get(this.port, '/after')).status === 200
      await sleep(50)
    }
    return false
  }

  /** Stops it, where it is alive, and waits for its last process. @returns {Promise<{ journal: string, left: number[], code: number | null }>} */
  async end () {
    this.signal(this.pid, 'SIGTERM')
    await becomesTrue(() => livingOfGroup(this.pid).length === 0, 20_000)
    clearInterval(this.timer)
    this.control.close()
    const left = livingOfGroup(this.pid)
    for (const teardown of this.teardowns) await teardown()
    const { code } = await this.cli.exited
    const journal = [...this.moved, path.join(this.folder, 'journal')].filter(file => fs.existsSync(file)).map(file => fs.readFileSync(file, 'utf8')).join('')
    if (this.hasDisk) execFileSync('umount', [this.folder])
    fs.rmSync(this.folder, { recursive: true, force: true })
    return { journal, left, code }
  }
}

/** @param {string} folder @returns {boolean} false: this user may not */
function mountDisk (folder) {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

module.exports = { CampaignFleet, VARIANTS, WORKERS }
