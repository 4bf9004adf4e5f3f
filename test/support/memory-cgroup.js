'use strict'

/** Memory cgroups of the kernel, of version 1 or 2, where this machine lets a test make them. */

const fs = require('node:fs')
const path = require('node:path')
const { becomesTrue } = require('./processes')

const V1 = '/sys/fs/cgroup/memory'
const V2 = '/sys/fs/cgroup'
const isFirst = fs.existsSync(path.join(V1, 'memory.limit_in_bytes'))
const ROOT = isFirst ? V1 : V2
const LIMIT = isFirst ? 'memory.limit_in_bytes' : 'memory.max'
const KILLS = isFirst ? 'memory.oom_control' : 'memory.events'
let made = 0

/** Why there are none: for `skip` of a test; false: there are. */
const noCgroups = (() => {
  const folder = path.join(ROOT, `recycle-try-${process.pid}`)
  try {
    fs.mkdirSync(folder)
    try {
      fs.writeFileSync(path.join(folder, LIMIT), String(1 << 30))
      return false
    } finally {
      fs.rmdirSync(folder)
    }
  } catch (error) {
    return `needs a memory cgroup of its own: ${/** @type {Error} */ (error).message}`
  }
})()

class MemoryCgroup {
  /** @param {any} t tap's: its processes are to be gone at the end @param {number} [limitBytes] */
  constructor (t, limitBytes) {
    this.folder = path.join(ROOT, `recycle-${process.pid}-${made++}`)
    fs.mkdirSync(this.folder)
    t.teardown(async () => {
      await becomesTrue(() => this.#read('cgroup.procs') === '')
      fs.rmdirSync(this.folder)
    })
    if (limitBytes !== undefined) this.limit(limitBytes)
  }

  /** @param {number} bytes a whole number of pages */
  limit (bytes) {
    fs.writeFileSync(path.join(this.folder, LIMIT), String(bytes))
  }

  /** How many processes of it the kernel has killed. */
  get kills () {
    return Number(/^oom_kill (\d+)/m.exec(this.#read(KILLS))?.[1])
  }

  /** What begins a command that runs in it. @returns {string[]} */
  get within () {
    return ['sh', '-c', `echo $$ > ${this.folder}/cgroup.procs; exec "$0" "$@"`]
  }

  /** @param {string} name */
  #read (name) {
    return fs.readFileSync(path.join(this.folder, name), 'latin1')
  }
}

module.exports = { MemoryCgroup, noCgroups }
