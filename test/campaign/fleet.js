'use strict'

/**
 * A fleet of a campaign, started by the command line: its workers, its journal, and the processes that the kernel lists
 * for it.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../../lib/control/client')
const { get } = require('../support/client')
const { BIN, FIXTURES, freePort, startCli } = require('../support/fleet')
const { becomesTrue, childrenOf, livingOfGroup, runToEnd } = require('../support/processes')
const { JournalFile } = require('./journal-file')
const { PLACES } = require('./places')
const { clientsOf } = require('./ports')

const WORKERS = 3
const LOOK_MS = 250
const DISK = '16m'
const SETTLED_MS = 45_000
const ENDED_MS = 30_000 // longer than any timeout of the fleet
const COMMON = ['-w', String(WORKERS), '-i', '100ms', '--jitter', '0', '--drain-timeout', '6s', '--kill-timeout', '1s', '--stop-linger', '300ms', '--orphan-timeout', '0', '--ready-timeout', '8s', '--stuck-timeout', '2s']

/** @type {Record<string, { args?: string[], place?: string }>} */
const VARIANTS = {
  surge: {},
  standby: { args: ['--standby', '1'] },
  'drain first': { args: ['--max-surge', '0', '--max-unavailable', '1'] },
  'without hand-off': { args: ['--no-handoff'] },
  'requests move': { args: ['--replay-after', '0', '--prefix'] },
  'forked workers': { args: ['--fork', 'mold'] },
  'in cgroups': { place: 'cgroups' },
  'as PID 1': { place: 'namespace' },
  'with a clock that is set': { place: 'clock' }
}

class CampaignFleet {
  /** @type {import('./invariants').Processes[]} */
  processes = []
  /** Whose connections a worker had when it was hit: the clients' ports. @type {Map<number, number[]>} */
  clients = new Map()
  #isStepOver = true

  /**
   * @param {Awaited<ReturnType<typeof startCli>>} cli
   * @param {object} parts
   * @param {import('../../lib/control/client').Client} parts.control
   * @param {import('./places').Place} parts.place
   * @param {JournalFile} parts.journal
   * @param {string} parts.folder of its files, deleted at the end
   * @param {boolean} parts.hasDisk the folder is a small disk of its own
   * @param {(() => unknown)[]} parts.teardowns
   */
  constructor (cli, { control, place, journal, folder, hasDisk, teardowns }) {
    this.cli = cli
    this.port = cli.port
    this.group = /** @type {number} */ (cli.child.pid)
    /** The primary's, out here; those of workers are as the fleet has them. */
    this.pid = place.primary?.(this.group) ?? this.group
    this.events = cli.events
    this.control = control
    this.place = place
    this.journal = journal
    this.folder = folder
    this.hasDisk = hasDisk
    this.teardowns = teardowns
    this.timer = setInterval(() =>
      this.processes.push({ t: Date.now(), living: this.#children(false), zombies: this.zombies() }), LOOK_MS)
  }

  /** @param {string} variant @returns {Promise<CampaignFleet>} when all its workers are ready */
  static async start (variant) {
    const { args = [], place: where = 'ordinary' } = VARIANTS[variant]
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
    const hasDisk = mountDisk(folder)
    fs.chmodSync(folder, 0o700)
    const place = PLACES[where].make(folder)
    const journal = new JournalFile(folder)
    /** @type {(() => unknown)[]} */
    const teardowns = []
    const socket = path.join(folder, 'control')
    const all = [...COMMON, ...args, '--journal', journal.path, '--control', socket, path.join(FIXTURES, 'victim.js')]
    const cli = await startCli({ teardown: (/** @type {() => unknown} */ end) => teardowns.push(end) }, all, {
      cwd: folder, env: { DEEDS: folder, ...place.env }, under: () => place.under
    })
    await cli.events.until('worker.ready', { count: WORKERS })
    return new CampaignFleet(cli, { control: await connect(socket), place, journal, folder, hasDisk, teardowns })
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

  /**
   * The first worker that gets such a message is hit.
   *
   * @param {{ message: string, signal: string, afterMs: number }} step
   * @returns {Promise<number | null>} its pid
   */
  async hitAt (step) {
    const [file, hit] = ['step', 'hit'].map(name => path.join(this.folder, name))
    fs.rmSync(hit, { force: true })
    fs.writeFileSync(`${file}.new`, JSON.stringify(step))
    fs.renameSync(`${file}.new`, file)
    this.#isStepOver = false
    if (!await becomesTrue(() => this.#isStepOver || fs.existsSync(hit)) || !fs.existsSync(hit)) return null
    const { pid, clients } = JSON.parse(fs.readFileSync(hit, 'latin1'))
    this.#note(pid, clients)
    return pid
  }

  /** None is hit any more. @returns {boolean} false: one has been, or is about to be */
  withdrawStep () {
    const file = path.join(this.folder, 'step')
    const isThere = fs.existsSync(file)
    fs.rmSync(file, { force: true })
    this.#isStepOver = isThere
    return isThere
  }

  /**
   * Another fleet of this one's name, on another port.
   *
   * @returns {Promise<{ code: number | null, said: string }>} when it has ended
   */
  async startSecond () {
    const env = { PORT: String(await freePort()), DEEDS: this.folder }
    const { code, stderr } = await runToEnd([process.execPath, BIN, '-w', '1', '--control', path.join(this.folder, 'control'), path.join(FIXTURES, 'victim.js')], { env })
    return { code, said: stderr }
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
    const out = pid === this.pid ? pid : this.#outside(pid)
    if (out === undefined) return false
    try {
      if (out === this.pid) return process.kill(out, signal)
      process.kill(out, 'SIGSTOP') // it takes no further connection while they are looked up
      this.#note(pid, clientsOf(out, this.port))
      process.kill(out, signal)
      if (signal !== 'SIGSTOP') process.kill(out, 'SIGCONT')
      return true
    } catch {
      return false
    }
  }

  /** @param {number} pid @param {number[]} ports */
  #note (pid, ports) {
    this.clients.set(pid, [...this.clients.get(pid) ?? [], ...ports])
  }

  /** Resolves once the primary has reaped this worker. @param {number} pid */
  async hasEnded (pid) {
    await becomesTrue(() => this.hasLeft(pid), ENDED_MS)
  }

  /** @param {number} pid */
  hasLeft (pid) {
    return this.events.lines.some(line => line.pid === pid && ['worker.retire', 'worker.crash'].includes(line.event))
  }

  /** What the fleet calls a process. @param {number} pid */
  inside (pid) {
    return this.place.inside ? this.place.inside(pid) : pid
  }

  /** @param {number} pid @returns {number | undefined} */
  #outside (pid) {
    return this.place.inside ? childrenOf(this.pid).find(child => this.inside(child.pid) === pid)?.pid : pid
  }

  /** Children of the primary that it has not reaped. */
  zombies () {
    return this.#children(true)
  }

  /** @param {boolean} isZombie @returns {number[]} */
  #children (isZombie) {
    return childrenOf(this.pid).filter(({ state }) => (state === 'Z') === isZombie).flatMap(({ pid }) => this.inside(pid) || [])
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

  /**
   * Stops it, where it is alive, and waits for its last process.
   *
   * @returns {Promise<{ journal: string, left: number[], code: number | null }>}
   */
  async end () {
    this.signal(this.pid, 'SIGTERM')
    await becomesTrue(() => livingOfGroup(this.group).length === 0, 20_000)
    clearInterval(this.timer)
    this.control.close()
    const left = livingOfGroup(this.group)
    for (const teardown of this.teardowns) await teardown()
    const { code } = await this.cli.exited
    const text = this.journal.read()
    await this.place.end?.()
    if (this.hasDisk) execFileSync('umount', [this.folder])
    fs.rmSync(this.folder, { recursive: true, force: true })
    return { journal: this.place.journal?.(text) ?? text, left, code }
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
