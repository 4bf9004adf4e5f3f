'use strict'

/** A memory cgroup and one that counts processes: one folder in version 2, two in version 1. */

const fs = require('node:fs')
const path = require('node:path')
const { MemoryCgroup, noCgroups } = require('../support/memory-cgroup')
const { becomesTrue } = require('../support/processes')

const PIDS_V1 = '/sys/fs/cgroup/pids'
let made = 0

class Cgroups {
  /** @type {(() => unknown)[]} */
  #teardowns = []

  /** @param {number} memoryBytes */
  constructor (memoryBytes) {
    this.memory = new MemoryCgroup(
      { teardown: (/** @type {() => unknown} */ end) => this.#teardowns.push(end) }, memoryBytes
    )
    const isFirst = fs.existsSync(PIDS_V1)
    /** Where processes are counted. */
    this.folder = isFirst ? path.join(PIDS_V1, `recycle-${process.pid}-${made++}`) : this.memory.folder
    if (!isFirst) return
    fs.mkdirSync(this.folder)
    this.#teardowns.push(async () => {
      await becomesTrue(() => this.#read('cgroup.procs') === '')
      fs.rmdirSync(this.folder)
    })
  }

  /** What begins a command that runs in them. @returns {string[]} */
  get within () {
    return ['sh', '-c', `for folder in ${this.memory.folder} ${this.folder}; do echo $$ > $folder/cgroup.procs; done; exec "$0" "$@"`]
  }

  /** Whether the number of processes and threads can be limited. */
  get counts () {
    return fs.existsSync(path.join(this.folder, 'pids.max'))
  }

  /**
   * fork(2) and the start of a thread fail with EAGAIN once there are so many more than now.
   *
   * @param {number | null} more null: no limit
   */
  limitProcesses (more) {
    fs.writeFileSync(path.join(this.folder, 'pids.max'), more === null ? 'max' : String(Number(this.#read('pids.current')) + more))
  }

  /** Once its last process has exited. */
  async end () {
    for (const teardown of this.#teardowns) await teardown()
  }

  /** @param {string} name */
  #read (name) {
    return fs.readFileSync(path.join(this.folder, name), 'latin1')
  }
}

module.exports = { Cgroups, noCgroups: noCgroups || null }
