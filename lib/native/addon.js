'use strict'

/** The addon that forks workers, passes descriptors and keeps what connections need: see addon/. */

const path = require('node:path')
const { binariesOf, load } = require('./prebuilds')

const FOLDER = path.join(__dirname, 'addon')

/**
 * @typedef {object} Addon
 * @property {(from: number[], to: number[]) => number} fork copies this process; 0 in the copy, where descriptors of
 *   `from` have the places of those in `to`
 * @property {(socket: number) => { pid: number, code: number, signal: number } | { text: string,
 *   descriptors: number[] } | null} wait blocks until a child has ended or a message has come; null: the other end is
 *   closed
 * @property {(socket: number, text: string, descriptors: number[]) => void} send at most 253 descriptors; it does not
 *   wait (EAGAIN)
 * @property {(socket: number) => { text: string, descriptors: number[] } | undefined | null} receive undefined: there
 *   is no message yet; null: the other end is closed; descriptors for which this process has no room are missing, the
 *   last first
 * @property {() => [number, number]} socketpair
 * @property {(fd: number) => number} peer the uid of the process at the other end of a unix socket
 * @property {(code: number) => never} exit at once, with no handler run
 * @property {() => boolean} guardExits copies end by _exit from now on; false: this Node has no hook for it
 * @property {() => boolean} drainAlone copies do not wait for threads of V8's that they lack, from now on; after
 *   guardExits. False: Node has no such method
 * @property {(signal: number) => void} ignore this process does nothing on it, until a handler is set
 * @property {() => number} activeRequests how many operations of the event loop are under way, in the thread pool or in
 *   the kernel
 * @property {(code: number) => void} exitAs the code by which a copy ends
 * @property {() => number} exited the pid of a child whose exit has not been collected, by Node or by us; 0: there is
 *   none
 * @property {(pid: number) => void} collect collects the exit of a child
 * @property {(path: string, text: string) => void} notify sends a datagram to a unix socket, `@…` an abstract one; it
 *   does not wait (EAGAIN)
 * @property {(bytes: number) => number} memory the descriptor of memory without a name, which takes room only where it
 *   is written to
 * @property {(fd: number, offset: number, length: number) => ArrayBuffer} map that part of it; whole pages
 * @property {(fd: number) => [read: number, written: number, unread: number, state: number] | undefined} bytesOf what
 *   the kernel has counted of a TCP connection since it was opened, without the client's end; undefined: none
 * @property {(fd: number) => number | undefined} unread how many bytes wait in a pipe, a socket or what is left of a
 *   file; undefined: that is not known
 * @property {(fd: number, pid: number) => void} own notes with a socket, for every process that has a descriptor of it,
 *   which one has it; the note lasts as long as the socket. Nothing, where that process has ended
 * @property {(fd: number) => number} owner that process; 0: there is no note, or it has ended
 * @property {(fd: number) => number} duplicate another descriptor of what it is of
 * @property {(fd: number, isReset: boolean) => void} shut ends a TCP connection of which another process has a
 *   descriptor, as close() does with the last one
 * @property {(fd: number, from: number, bytes: number, count: number, from2: number, bytes2: number, count2: number,
 *   spill: number) => boolean} watchReads what is read from some connections is kept in that memory from now on, in
 *   `count` places of `bytes`, or of the other size; false: this Node.js cannot be hooked
 * @property {(fd: number, rows: ArrayBuffer, offset: number, bytes: Buffer, ageMs: number) => void} keepReads of this
 *   connection, whose row is there; `bytes` were read before, the first of them so long ago
 * @property {(fd: number) => void} forgetReads to be called before it is closed
 * @property {() => number} sweepReads frees the places of connections that have been idle since the last time; how many
 *   bytes of places have been used
 * @property {(fd: number) => boolean} guardQueue of a listening socket: where this process has no descriptor left for a
 *   connection, it stays in the queue, and nothing is accepted until this is called again; false: this Node.js cannot
 *   be hooked. -1: of none, to ask
 * @property {(fd: number) => void} unguardQueue to be called before it is closed
 * @property {() => number[] | undefined} collections of scavenges, then of mark-sweeps: how many since the first call,
 *   how long they have paused the main thread, and the longest since the last call, ms; undefined: V8 does not tell
 * @property {string} source the hash of what it was made from; empty where it was built here
 */

/**
 * @param {string[]} [files] @param {string} [platform]
 * @returns {{ addon: Addon, missing: null } | { addon: null, missing: string }} `missing`: why there is none, a
 *   sentence
 */
const loadAddon = (files = binariesOf(FOLDER), platform = process.platform) => load(files, platform)

module.exports = { loadAddon }
