'use strict'

/**
 * Descriptors that the app has opened before it is forked. A copy shares each such file, socket or watch with the mold
 * and with its siblings: two of them that write to one database connection, or read from it, break it. So they are
 * found, and named.
 */

const fs = require('node:fs')
const { attempt } = require('../../core/attempt')
const { STATE, inetSocket, inodeOfSocket, unixSockets } = require('../../native/proc')

/** Descriptors that Node opens for itself; a copy's event loop makes these anew. */
const OF_THE_LOOP = /^anon_inode:\[(?:eventpoll|eventfd|io_uring)\]$/

/**
 * Descriptors that are open now and were not before.
 * @param {ReadonlySet<number>} before @returns {{ fd: number, what: string }[]} by number
 */
function openedSince (before) {
  const inodes = new Map()
  return listDescriptors()
    .filter(({ fd, target }) => !before.has(fd) && !OF_THE_LOOP.test(target))
    .map(({ fd, target }) => ({ fd, what: describe(target, inodes) }))
    .filter(({ what }) => what !== '')
}

/** @returns {Set<number>} */
const openDescriptors = () => new Set(listDescriptors().map(({ fd }) => fd))

/** Without the one by which they are read. @returns {{ fd: number, target: string }[]} */
function listDescriptors () {
  return fs.readdirSync('/proc/self/fd').map(Number).sort((a, b) => a - b).flatMap(fd => {
    return attempt(() => [{ fd, target: fs.readlinkSync(`/proc/self/fd/${fd}`) }], [])
  })
}

/**
 * @param {string} target as /proc/self/fd tells it
 * @param {Map<string, string>} sockets by inode, filled when first needed
 */
function describe (target, sockets) {
  if (target.startsWith('pipe:')) return 'a pipe'
  const inode = inodeOfSocket(target)
  if (inode !== null) {
    if (sockets.size === 0) readSockets(sockets)
    return sockets.get(inode) ?? 'a socket'
  }
  if (target === 'anon_inode:inotify') return 'a watch on files (inotify)'
  if (target.startsWith('anon_inode:')) return target.slice('anon_inode:'.length)
  return `the file ${target}`
}

/** @param {Map<string, string>} sockets */
function readSockets (sockets) {
  sockets.set('', '')
  for (const [protocol, file] of [['TCP', 'tcp'], ['TCP', 'tcp6'], ['UDP', 'udp'], ['UDP', 'udp6']]) {
    for (const { local, remote, state, inode } of table(file).split('\n').flatMap(line => inetSocket(line) ?? [])) {
      const what = protocol === 'UDP'
        ? `a UDP socket on ${address(local)}`
        : state === STATE.listen ? `a server on ${address(local)}` : `a TCP connection to ${address(remote)}`
      sockets.set(inode, what)
    }
  }
  // Node 20 pads
  for (const { inode, path } of unixSockets(table('unix'))) {
    sockets.set(inode, path ? `the Unix socket ${path.replace(/@+$/, '')}` : 'a Unix socket')
  }
}

/** @param {string} name in /proc/self/net */
const table = name => attempt(() => fs.readFileSync(`/proc/self/net/${name}`, 'utf8'), '') // no IPv6, say

/** @param {string} hex as in /proc/net: each word of the address in the machine's order, little-endian here */
function address (hex) {
  const [host, port] = hex.split(':')
  const bytes = (host.match(/.{8}/g) ?? []).flatMap(word => [...Buffer.from(word, 'hex')].reverse())
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every(byte => byte === 0) && bytes[10] === 0xff
  const words = Array.from({ length: 8 }, (_, i) => (bytes[2 * i] * 256 + bytes[2 * i + 1]).toString(16))
  const name = bytes.length === 4 || isMapped
    ? bytes.slice(-4).join('.')
    : `[${words.join(':').replace(/(?:^|:)0(?::0)+(?:$|:)/, '::')}]`
  return `${name}:${parseInt(port, 16)}`
}

module.exports = { openDescriptors, openedSince }
