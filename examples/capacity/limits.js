'use strict'

/** The limits that a test of many connections meets, read before it begins, and what follows from them. */

const fs = require('node:fs')

/**
 * Descriptors of a Node.js process that are no connections: standard streams, epoll, the listening socket, IPC, and
 * some to spare.
 */
const OWN_DESCRIPTORS = 40
/** Of the available memory, what stays untouched. */
const RESERVE = 0.1

/**
 * @typedef {object} Limits
 * @property {number} descriptors of a process. Node.js raises its soft limit to the hard one when it starts
 * @property {number} firstPort of those that a connection can have
 * @property {number} ports that the connections from one address to one server can have
 * @property {number} memoryBytes available
 * @property {number} backlog connections that wait to be accepted
 */

/** @returns {Limits} of this machine */
function readLimits () {
  const [, soft] = /^Max open files +(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1')) ?? []
  const [first, last] = fs.readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').split(/\s+/).map(Number)
  return {
    descriptors: Number(soft ?? Infinity),
    firstPort: first,
    ports: last - first + 1,
    memoryBytes: availableBytes(),
    backlog: Number(fs.readFileSync('/proc/sys/net/core/somaxconn', 'latin1'))
  }
}

/** @returns {number} memory that can be had without swapping, in bytes */
function availableBytes () {
  return Number(/^MemAvailable: +(\d+) kB/m.exec(fs.readFileSync('/proc/meminfo', 'latin1'))?.[1]) * 1024
}

/**
 * What the kernel has counted, of all sockets of this network namespace.
 *
 * @returns {{ overflows: number, cookiesFailed: number }} `overflows`: the queue of a listening socket was full when a
 *   client's connection was complete; `cookiesFailed`: connections reset since their SYN cookie, given when that queue
 *   was full, was too old
 */
function readCounters () {
  const [names, values] = fs.readFileSync('/proc/net/netstat', 'latin1').split('\n').filter(line => line.startsWith('TcpExt:')).map(line => line.split(' '))
  const of = (/** @type {string} */ name) => Number(values[names.indexOf(name)])
  return { overflows: of('ListenOverflows'), cookiesFailed: of('SyncookiesFailed') }
}

let networks = 0

/** @returns {string} for clientProcesses(): another one each time */
function nextNetwork () {
  return `127.${1 + process.pid % 254}.${networks++ % 256}`
}

/**
 * The processes that so many clients need. Each has an address of its own, and so its own ports.
 *
 * @param {number} clients
 * @param {Pick<Limits, 'descriptors' | 'ports'>} limits
 * @param {number} cpus
 * @param {string} [network] the first three numbers of the addresses. A port that was closed cannot be bound for a
 *   minute, so each test has its own
 * @returns {{ address: string, clients: number }[]} balanced
 */
function clientProcesses (clients, { descriptors, ports }, cpus, network = '127.0.0') {
  // Some ports are in use, or closed of late
  const most = Math.min(descriptors - OWN_DESCRIPTORS, Math.floor(ports * 0.9))
  const processes = Math.max(Math.min(cpus, clients), Math.ceil(clients / most))
  return Array.from({ length: processes }, (_, i) => ({ address: `${network}.${2 + i}`, clients: Math.floor((clients + i) / processes) }))
}

/**
 * @typedef {object} PerClient what a client takes, measured with some hundred
 * @property {number} baseHeapBytes of a server without clients
 * @property {number} heapBytes
 * @property {number} residentBytes heap, buffers, and all else in the process
 */

/**
 * How many clients each limit allows; the least is first: it will give.
 *
 * @param {Pick<Limits, 'descriptors' | 'memoryBytes'>} limits of the server's process
 * @param {{ heapLimitBytes: number }} subject
 * @param {PerClient} perClient
 * @returns {{ cause: 'heap' | 'descriptors' | 'memory', clients: number }[]}
 */
function foresee ({ descriptors, memoryBytes }, { heapLimitBytes }, { baseHeapBytes, heapBytes, residentBytes }) {
  return [
    { cause: /** @type {const} */ ('descriptors'), clients: descriptors - OWN_DESCRIPTORS },
    { cause: /** @type {const} */ ('heap'), clients: Math.floor((heapLimitBytes - baseHeapBytes) / heapBytes) },
    { cause: /** @type {const} */ ('memory'), clients: Math.floor(memoryBytes * (1 - RESERVE) / residentBytes) }
  ].sort((a, b) => a.clients - b.clients)
}

module.exports = {
  readLimits, readCounters, nextNetwork, availableBytes, clientProcesses, foresee, OWN_DESCRIPTORS, RESERVE
}
