'use strict'

/**
 * Ends the processes that a worker has started and that live on after it. They are found by a variable of their
 * environment, which a worker gives on to its children, and these to theirs; by then the kernel has given them another
 * parent. One that was started with an environment of its own is not found. Those that have put themselves into a
 * session of their own, as daemons do, are left, and named. Linux only.
 */

const fs = require('node:fs')
const path = require('node:path')
const { setImmediate, setTimeout } = require('node:timers/promises')
const proc = require('../../native/proc')
const { now } = require('../clock')
const { Part } = require('../part')

const VARIABLE = 'RECYCLE_WORKER_ID'
// node:crypto would take up to 2 MB
const FLEET = `${process.pid}-${process.hrtime.bigint()}-${Math.random().toString(36).slice(2)}`
const AT_ONCE_MS = 20 // workers that exit together share a look
const LOOK_MS = 100
const REAP_MS = 1000
const MOST_NAMED = 20
const AT_ONCE = 32 // processes that are looked at in one turn: each takes a descriptor
const MARKED = new RegExp(`(?:^|\\0)${VARIABLE}=([^\\0]+)\\0`)

/** @typedef {{ id: string, slot: number | null, pid: number | null }} Parent a worker, or what workers are copies of */
/** @typedef {{ pid: number, command: string, isAlone: boolean }} Child `isAlone`: in a session of its own */

/** @typedef {ReturnType<typeof proc.statOf>} Stat */

let lastId = 0

/** @returns {{ id: string, env: Record<string, string> }} of a worker that is about to be started */
function newMarker () {
  const id = `${FLEET}-${++lastId}`
  return { id, env: { [VARIABLE]: id } }
}

class Children extends Part {
  /** Children that are left, by command: each is named once. @type {Set<string>} */
  #named = new Set()
  /** @type {Promise<Map<string, Child[]>> | null} */
  #nextLook = null
  /** Sessions of adopted workers, by id: their children may be older than this process. @type {Map<string, string>} */
  #adopted = new Map()

  /** @param {import('./worker-handle').WorkerHandle} handle */
  connect (handle) {
    const { id, pid } = handle
    if (!id.startsWith(FLEET)) this.#adopted.set(id, statOf(Number(pid))?.session ?? '')
    handle.on('exit', () => this.endOf(handle))
  }

  /** @param {Parent} parent it has exited */
  endOf (parent) {
    if (this.options.leaveChildren || process.platform !== 'linux' || parent.pid === null) return
    this.tasks.run('children', () => this.#end(parent))
  }

  /** SIGTERM, and SIGKILL for what is there after the kill timeout. @param {Parent} parent */
  async #end ({ id, slot, pid }) {
    /** @type {Map<number, Child>} */
    const told = new Map()
    /** @type {Set<number>} */
    const killed = new Set()
    const deadline = now() + (this.tenure.isOver ? this.options.stopTimes.killMs : this.options.killTimeoutMs)
    for (let end = Infinity; now() < end; await setTimeout(LOOK_MS)) {
      const children = (await this.#look()).get(id) ?? []
      const ours = children.filter(child => !child.isAlone)
      if (told.size === 0) this.#nameAlone(slot, pid, children)
      if (ours.length === 0) break
      const isLate = now() >= deadline
      if (isLate) end = Math.min(end, now() + REAP_MS)
      for (const child of ours) {
        if (isLate) killed.add(child.pid)
        if (isLate || !told.has(child.pid)) signal(child.pid, isLate ? 'SIGKILL' : 'SIGTERM')
        told.set(child.pid, child)
      }
    }
    if (told.size > 0) {
      this.record('worker.children',
        { slot, pid, ended: told.size, killed: killed.size, commands: commandsOf([...told.values()]) })
    }
  }

  /** @param {number | null} slot @param {number | null} pid @param {Child[]} children */
  #nameAlone (slot, pid, children) {
    const alone = children.filter(child => child.isAlone && !this.#named.has(child.command))
    if (alone.length === 0) return
    for (const { command } of alone) if (this.#named.size < 1000) this.#named.add(command)
    this.record('fleet.warning',
      { warning: 'children-left', slot, pid, pids: alone.map(child => child.pid), commands: commandsOf(alone) })
  }

  #look () {
    this.#nextLook ??= setTimeout(AT_ONCE_MS).then(() => {
      this.#nextLook = null
      // A copy has the environment of its original
      return childrenById(new Set(this.fleet.all().map(({ pid }) => pid)), this.#adopted)
    })
    return this.#nextLook
  }
}

/**
 * An orphan's parent is an ancestor of this process or init. So the children of these are looked at, and of what is
 * found or cannot be read. Adopted workers may have other ancestors, and not all are seen everywhere: then all are.
 * @param {ReadonlySet<number>} workers pids that are no children
 * @param {ReadonlyMap<string, string>} adopted sessions of those that another primary has started, by id
 * @returns {Promise<Map<string, Child[]>>} by the id of the worker that has started them
 */
async function childrenById (workers, adopted) {
  const own = statOf('self')
  /** @type {Map<string, Child[]>} */
  const found = new Map()
  /** @type {Map<number, Stat>} */
  const stats = new Map()
  const pids = fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number)
  await inTurns(pids.filter(pid => !workers.has(pid)), pid => {
    const stat = statOf(pid)
    if (stat === null || !stat.isAlive || (adopted.size === 0 && stat.startedAt < Number(own?.startedAt))) return
    stats.set(pid, stat)
  })
  const look = async (/** @type {number} */ pid) => {
    const { session } = /** @type {Stat} */ (stats.get(pid))
    stats.delete(pid)
    const environment = await read(pid, 'environ')
    const id = MARKED.exec(environment)?.[1]
    if (id === undefined) return environment === '' ? pid : null
    const [program = '', argument = ''] = (await read(pid, 'cmdline')).split('\0')
    const command = `${path.basename(program)} ${argument}`.trim().slice(0, 100)
    const isAlone = session !== (adopted.get(id) ?? own?.session)
    found.set(id, [...found.get(id) ?? [], { pid, command, isAlone }])
    return pid
  }
  const ancestors = adopted.size === 0 ? ancestorsOf(process.pid) : null
  const childrenOf = (/** @type {ReadonlySet<number | null>} */ parents) =>
    [...stats.keys()].filter(pid => parents.has(stats.get(pid)?.parent ?? null))
  for (let next = ancestors ? childrenOf(ancestors) : [...stats.keys()]; next.length > 0;) {
    next = childrenOf(new Set(await inTurns(next, look)))
  }
  for (const children of found.values()) children.sort((a, b) => a.pid - b.pid)
  return found
}

/** @param {number} pid @returns {ReadonlySet<number> | null} itself and init included; null: not all are seen */
function ancestorsOf (pid) {
  const all = new Set([1])
  for (let next = pid; next > 0;) {
    all.add(next)
    const stat = statOf(next)
    if (stat === null) return null
    next = stat.parent
  }
  return all
}

/** @template T @param {number[]} pids @param {(pid: number) => T} look @returns {Promise<Awaited<T>[]>} */
async function inTurns (pids, look) {
  const all = []
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    all.push(...await Promise.all(pids.slice(at, at + AT_ONCE).map(look)))
    await setImmediate()
  }
  return all
}

/** @param {number | 'self'} pid @returns {Stat | null} null: it is gone */
function statOf (pid) {
  try {
    return proc.statOf(pid)
  } catch (error) {
    return goneOr(error)
  }
}

/**
 * @param {number} pid @param {string} file read on the thread pool: the kernel may wait for the process's memory
 * @returns {Promise<string>} empty: it has exited, or is another user's @throws {Error} for want of a descriptor
 */
async function read (pid, file) {
  try {
    return await fs.promises.readFile(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    return goneOr(error) ?? ''
  }
}

/** @param {unknown} error @returns {null} the process has exited @throws {Error} for want of a descriptor */
function goneOr (error) {
  if (proc.lacksDescriptor(error)) throw error
  return null
}

/** @param {Child[]} children */
const commandsOf = children => [...new Set(children.map(({ command }) => command))].slice(0, MOST_NAMED)

/** @param {number} pid @param {NodeJS.Signals} name */
function signal (pid, name) {
  try {
    process.kill(pid, name)
  } catch {} // it has just exited
}

module.exports = { Children, newMarker }
