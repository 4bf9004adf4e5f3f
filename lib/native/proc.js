'use strict'

/** Linux's /proc and /sys: how a file is read, and the formats that several parts read. */

const fs = require('node:fs')
const { attempt } = require('../core/attempt')

// sl: local address:port remote address:port state tx_queue:rx_queue tr:tm->when retransmits uid timeout inode
const INET = /^ *\d+: ([\dA-F]+:([\dA-F]+)) (\S+) (..) [\dA-F]+:([\dA-F]+) \S+ \S+ +\d+ +\d+ (\d+)/
// Num RefCount Protocol Flags Type St Inode Path; a path has spaces where it has them, and not each socket has one
const UNIX = /^[\da-f]+: (?:[\dA-F]+ ){5} *(\d+)(?: (.+))?$/
const PAGE = Buffer.allocUnsafeSlow(4096)
const STATE = Object.freeze({ established: '01', synReceived: '03', listen: '0A' })

/**
 * The size of such a file is 0 or unknown, so fs.readFileSync() allocates 64 KiB for each, and a reader on the thread
 * pool is called four times. Not for what makes the kernel walk a process's memory.
 * @param {string} file @returns {string} @throws {Error} the system's
 */
function readNow (file) {
  const fd = fs.openSync(file, 'r')
  try {
    let text = ''
    for (let length; (length = fs.readSync(fd, PAGE, 0, PAGE.length, null)) > 0;) {
      text += PAGE.toString('latin1', 0, length)
    }
    return text
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * @typedef {object} InetSocket
 * @property {string} local address:port, in hexadecimal
 * @property {number} port the local one
 * @property {string} remote
 * @property {string} state one of STATE, or another
 * @property {number} queued bytes to be read; of one that listens, connections to be accepted
 * @property {string} inode
 *
 * @param {string} line of /proc/net/tcp, tcp6, udp or udp6 @returns {InetSocket | null} null: its first line, say
 */
function inetSocket (line) {
  const [found, local, port, remote, state, queued, inode] = INET.exec(line) ?? []
  if (found === undefined) return null
  return { local, port: parseInt(port, 16), remote, state, queued: parseInt(queued, 16), inode }
}

/**
 * @param {string} text of /proc/net/unix
 * @returns {{ inode: string, path: string | null }[]} `path`: `@` for the \0 of an abstract name
 */
function unixSockets (text) {
  return text.split('\n').flatMap(line => {
    const [found, inode, path = null] = UNIX.exec(line) ?? []
    return found === undefined ? [] : [{ inode, path }]
  })
}

/** @returns {(string | null)[]} those of all processes, as unixSockets() has them; none where there is no /proc */
const pathsOfUnixSockets = () =>
  attempt(() => unixSockets(fs.readFileSync('/proc/net/unix', 'latin1')).map(({ path }) => path), [])

/** @param {string} target of a link in /proc/<pid>/fd @returns {string | null} the inode; null: it is no socket */
const inodeOfSocket = target => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? null

/**
 * @param {string} text of /proc/<pid>/stat
 * @returns {string[]} its fields from the third on, which is the state: the name before them may hold anything
 */
const statFields = text => text.slice(text.lastIndexOf(')') + 2).split(' ')

/**
 * @param {number | 'self'} pid
 * @returns {{ isAlive: boolean, parent: number, session: string, startedAt: number }} `isAlive`: it has not exited;
 *   `startedAt`: ticks since the system has started
 * @throws {Error} it is gone, there is no /proc, or this process lacks a descriptor
 */
function statOf (pid) {
  const fields = statFields(readNow(`/proc/${pid}/stat`))
  return {
    isAlive: !['Z', 'X'].includes(fields[0]), // a process that ends closes its channels before it is gone
    parent: Number(fields[1]),
    session: fields[3],
    startedAt: Number(fields[19])
  }
}

/**
 * @param {number} pid
 * @returns {number | null | undefined} when it was started, as statOf(); null: it does not run; undefined: that is not
 *   known for want of a descriptor
 */
function startOf (pid) {
  try {
    const { isAlive, startedAt } = statOf(pid)
    return isAlive ? startedAt : null
  } catch (error) {
    return lacksDescriptor(error) ? undefined : null
  }
}

/**
 * @param {number} pid @param {number | null | undefined} startedAt as startOf() said of it
 * @returns {boolean} that process lives, or it cannot be told: the pid may be another one's by now
 */
function isStill (pid, startedAt) {
  const now = startOf(pid)
  return now !== null && (now === undefined || startedAt === undefined || now === startedAt)
}

/** @param {unknown} error */
const lacksDescriptor = error =>
  ['EMFILE', 'ENFILE'].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))

module.exports = {
  STATE, inetSocket, inodeOfSocket, isStill, lacksDescriptor, pathsOfUnixSockets, readNow, startOf, statFields, statOf,
  unixSockets
}
