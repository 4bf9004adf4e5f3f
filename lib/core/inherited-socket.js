'use strict'

/**
 * Which of the sockets that the service manager has passed (socket activation) is the one that the app asks for. They
 * are compared by address: the kernel's of the socket, and the app's as net gives it to cluster.
 *
 * @typedef {object} InheritedSocket
 * @property {number} fd
 * @property {string | null} name of the unit that opened it, or its FileDescriptorName=
 * @property {string | null} path of a unix socket, absolute; an abstract one begins with \0
 * @property {string | null} address of a TCP socket
 * @property {number | null} port
 */

const ANY = ['::', '0.0.0.0']

/**
 * The app gets no address that is wider than the one it asks for: of `listen(80, '127.0.0.1')`, a socket on every
 * address is none.
 * @template {InheritedSocket} Socket @param {readonly Socket[]} sockets that no server has yet
 * @param {{ address: string | null, port: number | null, fd?: number | null }} query net's; port -1: a path
 * @returns {Socket | undefined}
 */
function pickInherited (sockets, { address: asked, port, fd }) {
  if (typeof fd === 'number' && fd >= 0) return sockets.find(socket => socket.fd === fd)
  if (port === -1) return sockets.find(socket => socket.path !== null && socket.path === asked)
  const ofPort = sockets.filter(socket => socket.port !== null && socket.port === port)
  const exact = ofPort.find(({ address }) => address === (asked ?? '::'))
  if (exact || (asked !== null && !ANY.includes(asked))) return exact
  return ofPort.find(({ address }) => ANY.includes(String(address))) ?? ofPort.at(0)
}

/** @param {InheritedSocket} socket @returns {string} as in a URL: `[::]:80`, `127.0.0.1:80`, `/run/shop.sock` */
function addressOf ({ path, address, port }) {
  if (path !== null) return path.replace(/^\0/, '@')
  return `${address?.includes(':') ? `[${address}]` : address}:${port}`
}

module.exports = { pickInherited, addressOf }
