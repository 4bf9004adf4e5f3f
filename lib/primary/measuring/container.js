'use strict'

/**
 * Resources that this process may use: the memory and CPUs of its cgroups, which a container or a systemd unit limits,
 * else those of the machine. The files are small and in the kernel's memory, so they are read at once: about 15 µs
 * each.
 */

const os = require('node:os')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { findHierarchy, readLimit, readFigure, readPressure, readQuota } = require('../../core/cgroup')
const { readNow } = require('../../native/proc')
/** @import { Container as Limits, Source } from '../../core/container-budget' */

/**
 * @typedef {object} MemoryReading
 * @property {Source} source @property {number} limitBytes
 * @property {number} usedBytes without file pages that the kernel can drop at once
 * @property {import('../../core/cgroup').Pressure | null} pressure of the machine, where cgroups of version 1 limit it
 * @property {number | null} limitHits how often the limit was reached, so that memory had to be freed first; null: no
 *   cgroup limits it
 * @property {number | null} oomKills processes that the kernel has killed for want of memory: of this process's cgroup,
 *   or of the machine
 *
 * @typedef {{ limitBytes: number, folder: string | null }} Lowest `folder`: null: the machine's memory
 * @typedef {(name: string) => string | null} Read gives the text of a file of one folder
 *
 * @typedef {object} Version how it tells what the others tell in other files
 * @property {(read: Read) => (number | null | undefined)[]} limits bytes
 * @property {string} used bytes
 * @property {string} droppable its name in memory.stat
 * @property {(read: Read) => number} hits
 * @property {string} kills a file with `oom_kill`
 * @property {(read: Read) => number | null} quota CPUs
 */

/** @type {Record<1 | 2, Version>} */
const VERSIONS = {
  1: {
    // The second is of the cgroups above, too, which may not be visible.
    limits: read =>
      [readLimit(read('memory.limit_in_bytes')), readFigure(read('memory.stat'), 'hierarchical_memory_limit')],
    used: 'memory.usage_in_bytes',
    droppable: 'total_inactive_file',
    hits: read => Number(read('memory.failcnt')),
    kills: 'memory.oom_control',
    quota: read => readQuota(read('cpu.cfs_quota_us'), read('cpu.cfs_period_us'))
  },
  2: {
    limits: read => [readLimit(read('memory.max')), readLimit(read('memory.high'))],
    used: 'memory.current',
    droppable: 'inactive_file',
    hits: read => readFigure(read('memory.events'), 'max') ?? 0,
    kills: 'memory.events',
    quota: read => readQuota(read('cpu.max'))
  }
}
const LIMIT_EVERY = 10 // readings

class Container {
  #root
  /** @type {import('../../core/cgroup').Hierarchy | null} */
  #memory
  /** The lowest limit, and the folder that has it; of more than one the highest, whose use is more. @type {Lowest} */
  #limit
  #readings = 0

  /** @param {string} [root] where /proc and /sys are */
  constructor (root = '/') {
    this.#root = root
    this.#memory = this.#find('memory')
    this.#limit = this.#findLimit()
  }

  /** @returns {Limits} */
  limits () {
    const cpu = this.#find('cpu')
    const quotas = cpu ? cpu.folders.flatMap(folder => VERSIONS[cpu.version].quota(this.#in(folder)) ?? []) : []
    return {
      limitBytes: this.#limit.limitBytes,
      source: this.#source,
      quotaCpus: quotas.length > 0 ? Math.min(...quotas) : null
    }
  }

  /** @returns {MemoryReading | null} null: this system does not tell what is used */
  readMemory () {
    if (++this.#readings % LIMIT_EVERY === 0) this.#limit = this.#findLimit() // it can be changed while a process runs
    const { limitBytes, folder } = this.#limit
    const common = { source: this.#source, limitBytes, oomKills: this.#oomKills() }
    const pressure = this.#read('/proc/pressure/memory')
    if (this.#memory === null || folder === null) {
      const free = this.#meminfo('MemAvailable')
      return free === null
        ? null
        : {
            ...common,
            usedBytes: Math.max(0, limitBytes - 1024 * free),
            pressure: readPressure(pressure),
            limitHits: null
          }
    }
    const version = VERSIONS[this.#memory.version]
    const read = this.#in(folder)
    const usedBytes = Number(read(version.used)) - (readFigure(read('memory.stat'), version.droppable) ?? 0)
    return {
      ...common, usedBytes: Math.max(0, usedBytes), pressure: readPressure(read('memory.pressure') ?? pressure),
      limitHits: version.hits(read)
    }
  }

  /** @returns {MemoryReading['source']} */
  get #source () {
    return this.#memory === null || this.#limit.folder === null ? 'machine' : `cgroup v${this.#memory.version}`
  }

  /** The kernel counts a kill before the process exits, in the cgroup of that process. @returns {number | null} */
  #oomKills () {
    const own = this.#memory &&
      readFigure(this.#in(this.#memory.folders[0])(VERSIONS[this.#memory.version].kills), 'oom_kill')
    return own ?? readFigure(this.#read('/proc/vmstat'), 'oom_kill')
  }

  #findLimit () {
    /** @type {Lowest} */
    let lowest = { limitBytes: 1024 * (this.#meminfo('MemTotal') ?? os.totalmem() / 1024), folder: null }
    if (this.#memory === null) return lowest
    for (const folder of this.#memory.folders) {
      for (const limitBytes of VERSIONS[this.#memory.version].limits(this.#in(folder))) {
        if (typeof limitBytes === 'number' && limitBytes <= lowest.limitBytes) lowest = { limitBytes, folder }
      }
    }
    return lowest
  }

  /** @param {string} name @returns {number | null} KiB */
  #meminfo (name) {
    return readFigure(this.#read('/proc/meminfo'), name)
  }

  /** @param {string} controller */
  #find (controller) {
    return findHierarchy(controller, this.#read('/proc/self/cgroup') ?? '', this.#read('/proc/self/mountinfo') ?? '')
  }

  /** @param {string} folder @returns {Read} */
  #in (folder) {
    return name => this.#read(`${folder}/${name}`)
  }

  /** @param {string} file absolute @returns {string | null} null: it is not there, or cannot be read */
  #read (file) {
    return attempt(() => readNow(path.join(this.#root, file)), null)
  }
}

/** Facts with which options are resolved. @returns {{ parallelism: number, container: Limits }} */
const machineFacts = () => ({ parallelism: os.availableParallelism(), container: new Container().limits() })

module.exports = { Container, machineFacts }
