'use strict'

/** Where the memory of connections is: in the processes, and in the kernel. */

const fs = require('node:fs')
const os = require('node:os')

/** @param {number[]} pids @returns {number} bytes; a page that several share is divided among them */
function pssOf (pids) {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(/^Pss: +(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1]) * 1024
    } catch {
      return sum // it has just ended
    }
  }, 0)
}

/** What this network namespace and the kernel have: both ends of each connection are here. */
function kernelMemory () {
  const [, sockets, pages] = /^TCP: inuse (\d+) .*mem (\d+)/m.exec(fs.readFileSync('/proc/net/sockstat', 'latin1')) ?? []
  const [, sockets6 = 0] = /^TCP6: inuse (\d+)/m.exec(fs.existsSync('/proc/net/sockstat6') ? fs.readFileSync('/proc/net/sockstat6', 'latin1') : '') ?? []
  const [, slab] = /^Slab: +(\d+)/m.exec(fs.readFileSync('/proc/meminfo', 'latin1')) ?? []
  return {
    sockets: Number(sockets) + Number(sockets6), bufferBytes: Number(pages) * 4096, slabBytes: Number(slab) * 1024
  }
}

/** The limits that decide how many connections there can be. */
function limits () {
  const read = (/** @type {string} */ file) => {
    try {
      return fs.readFileSync(file, 'latin1').trim().split(/\s+/).map(Number)
    } catch {
      return null // not in this namespace
    }
  }
  const [first, last] = read('/proc/sys/net/ipv4/ip_local_port_range') ?? [32_768, 60_999]
  const descriptors = Number(/^Max open files +\d+ +(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1])
  return {
    descriptors: Number.isFinite(descriptors) ? descriptors : Infinity,
    ports: last - first + 1,
    backlog: read('/proc/sys/net/core/somaxconn')?.[0] ?? 128,
    freeBytes: os.freemem()
  }
}

module.exports = { pssOf, kernelMemory, limits }
