'use strict'

/** Whose connections a process holds, by the kernel: a client may have been served by another one last. */

const fs = require('node:fs')

const ESTABLISHED = '01'

/** @param {number} pid @param {number} port that the server listens on @returns {number[]} the clients' ports */
function clientsOf (pid, port) {
  try {
    const inodes = new Set(fs.readdirSync(`/proc/${pid}/fd`).map(fd => /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${fd}`))?.[1]))
    return ['tcp', 'tcp6'].flatMap(file => fs.readFileSync(`/proc/net/${file}`, 'latin1').trim().split('\n').slice(1).flatMap(line => {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
      return state === ESTABLISHED && inodes.has(inode) && portOf(local) === port ? [portOf(remote)] : []
    }))
  } catch {
    return [] // it has exited
  }
}

/** @param {string} file */
function link (file) {
  try {
    return fs.readlinkSync(file)
  } catch {
    return '' // closed meanwhile
  }
}

/** @param {string} address in hexadecimal */
const portOf = address => parseInt(address.slice(address.lastIndexOf(':') + 1), 16)

module.exports = { clientsOf }
