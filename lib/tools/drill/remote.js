'use strict'

/**
 * A running fleet, as a drill uses it: recycles slots and follows the journal through the control socket. The fleet
 * runs on after the drill.
 */

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const { dirname } = require('node:path')
const { attempt } = require('../../core/attempt')
const { badUsage } = require('../../core/errors')
const { connect, findFleet } = require('../../control/client')
const { inodeOfSocket, statOf, unixSockets } = require('../../native/proc')

const MOST_LINES = 1000

/** Emits `event` with every journal line, and `stopped` when the fleet is gone. */
class RemoteFleet extends EventEmitter {
  #hasLeft = false
  #hasServed = false
  /** Requests that each worker had begun before the drill, by pid. @type {Map<number, number>} */
  #before

  /**
   * @param {import('../../control/client').Client} client @param {string} path of the control socket
   * @param {Pick<import('../../primary/supervisor').Status, 'pid' | 'workers'>} status
   * @param {{ isFromStart?: boolean }} [how] also the earlier lines of the journal of this primary
   */
  constructor (client, path, { pid, workers }, { isFromStart = false } = {}) {
    super()
    this.client = client
    this.path = path
    /** The primary's. */
    this.pid = pid
    this.#before = new Map(workers.map(({ pid, requests }) => [pid, requests]))
    const gone = () => { if (!this.#hasLeft) this.emit('stopped', null) }
    this.#follow(isFromStart ? MOST_LINES : 0).then(gone, gone)
  }

  /** Resolves when the fleet is gone, also where it was upgraded meanwhile. @param {number} last earlier lines */
  async #follow (last) {
    const isLeft = await this.client.follow(line => {
      if (line.event === 'worker.sample') this.#note(line)
      this.emit('event', line)
    }, { last })
    if (!isLeft || this.#hasLeft) return
    this.client.close()
    this.client = await connect(this.path)
    if (this.#hasLeft) return this.client.close() // meanwhile
    this.pid = Number(this.client.hello?.pid)
    await this.#follow(MOST_LINES)
  }

  /**
   * @param {{ name?: string | null, control?: string | null }} which
   * @throws {RecycleError} RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS
   */
  static async open (which) {
    const { path } = await findFleet(which)
    const client = await connect(path)
    return new RemoteFleet(client, path, await client.call('status'))
  }

  async ready () {}

  /** The output of `recycle status --json`. */
  async status () {
    return this.client.call('status')
  }

  /** @param {number} slot */
  async recycle (slot) {
    const { done: [line] } = await this.client.call('recycle', { target: slot })
    return line
  }

  /**
   * @throws {RecycleError} RECYCLE_BAD_USAGE where its workers cannot be killed from here
   * @param {string} option that asks for it
   */
  async mayKill (option) {
    const { workers } = await this.status()
    const why = whyNotKill({ path: this.path, pid: this.pid, workers })
    if (why !== null) throw badUsage(`${option} cannot kill workers of this fleet: ${why}`)
  }

  /** @param {number} pid of a worker, by its latest status @throws {Error} it is none any more */
  kill (pid) {
    if (!isChild(pid, this.pid)) throw new Error(`process ${pid} is no worker`)
    process.kill(pid, 'SIGKILL')
  }

  /** Whether its workers have begun requests since the drill connected. */
  async hasServed () {
    if (this.#hasServed) return true
    const { workers } = await this.status()
    for (const worker of workers) this.#note(worker)
    return this.#hasServed
  }

  /** @param {Record<string, any>} worker */
  #note ({ pid, requests }) {
    this.#hasServed ||= requests > (this.#before.get(pid) ?? 0)
  }

  /** Disconnects; the fleet runs on. */
  async stop () {
    this.#hasLeft = true
    this.client.close()
  }
}

/**
 * Whether the workers of a running fleet are processes that this one may kill. Their numbers are the fleet's own, and
 * those of a fleet in a container name other processes here: so the fleet must be a process that listens in the folder
 * of the control socket, and they its children.
 */

/**
 * @param {{ path: string, pid: number, workers: readonly { pid: number }[] }} fleet `path` of its control socket, `pid`
 *   of its primary
 * @returns {string | null} null: they are, and it may
 */
function whyNotKill ({ path, pid, workers }) {
  if (!fs.existsSync('/proc/self/stat')) return 'this system does not tell which processes are its workers (no /proc)'
  if (!listensIn(pid, dirname(path))) {
    return `process ${pid} of this machine is not the fleet of ${path}, as far as this user may ` +
      'see: is it in a container?'
  }
  const foreign = workers.find(worker => !isChild(worker.pid, pid))
  if (foreign) return `process ${foreign.pid} of this machine is no worker of the fleet`
  try {
    for (const worker of workers) process.kill(worker.pid, 0)
    return null
  } catch (error) {
    // A process that has exited just now
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM' ? 'this user may not kill its workers' : null
  }
}

/** @param {number} pid @param {number} parent @returns {boolean} false also where it has exited */
const isChild = (pid, parent) =>
  attempt(() => statOf(pid).parent === parent, false)

/** The socket has another name than its file, to which it was linked. @param {number} pid @param {string} folder */
function listensIn (pid, folder) {
  try {
    const inodes = unixSockets(fs.readFileSync('/proc/net/unix', 'utf8')).filter(({ path }) =>
      path !== null && dirname(path) === folder).map(({ inode }) => inode)
    return fs.readdirSync(`/proc/${pid}/fd`).some(fd =>
      inodes.includes(String(inodeOfSocket(link(`/proc/${pid}/fd/${fd}`)))))
  } catch {
    return false
  }
}

/** @param {string} file */
const link = file => attempt(() => fs.readlinkSync(file), '') // closed meanwhile

module.exports = { RemoteFleet, isChild, whyNotKill }
