'use strict'

/**
 * Two ends of one connection: one for this process, and one for a worker. No other user of the machine can reach
 * either: the kernel makes both at once, or, without the addon, the one listens for the other in a folder that is this
 * user's alone.
 */

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { detachHandle } = require('../../core/internals')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')

const LONGEST_NAME = 100 // bytes

/**
 * @param {Pick<import('../../native/addon').Addon, 'socketpair'> | null} [addon]
 * @returns {Promise<{ near: net.Socket, far: any }>} `far`: a pipe handle or a Descriptor, of which nothing is read
 * @throws {Error} for want of a descriptor, say
 */
async function openPair (addon = loadAddon().addon) {
  if (!addon) return connectPair()
  const [near, far] = addon.socketpair()
  return { near: new net.Socket({ fd: near }), far: new Descriptor(far) }
}

/** @returns {Promise<{ near: net.Socket, far: any }>} */
async function connectPair () {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')) // its mode is 0700
  const server = net.createServer({ pauseOnConnect: true })
  try {
    const file = path.join(folder, 'probe')
    // A longer path would be cut, and the rest is another folder
    if (Buffer.byteLength(file) > LONGEST_NAME) throw new Error(`${os.tmpdir()} is too long a name for a folder of sockets`)
    await once(server.listen(file), 'listening')
    const near = net.connect(file).on('error', error => server.emit('error', error))
    const [far] = await once(server, 'connection')
    near.removeAllListeners('error')
    return { near, far: detachHandle(far) }
  } finally {
    server.close()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { openPair }
