'use strict'

/** As the fleet stops: what still waits in the queues of its listening sockets, whose close would reset it. */

const { setImmediate, setTimeout } = require('node:timers/promises')
const { now } = require('../clock')
const { CloseWithoutReset } = require('./close-without-reset')
/** @import { Handle } from '../../core/internals' */

const BACKLOG = 4096
const QUIET_MS = 10
const EMPTYING_MS = 250
const PLUGGING_MS = 1500 // a handshake whose last ACK the kernel has dropped is taken up again after a second

/**
 * Accepts all that waits, then closes the sockets.
 * @param {{ key: string, handle: Handle, file: import('./unix-socket-file').UnixSocketFile | null }[]} sockets
 * @param {Promise<unknown>} shut resolves when no worker accepts any more @param {(key: string) => void} close
 * @returns {Promise<{ key: string, client: Handle }[]>} connections, as handles that have not been read
 */
async function acceptLast (sockets, shut, close) {
  /** @type {{ key: string, client: Handle }[]} */
  const last = []
  let accepted = 0
  const closings = sockets.map(({ key, handle, file }) => {
    const closing = new CloseWithoutReset(handle, BACKLOG)
    handle.onconnection = (error, client) => {
      accepted++
      if (error) return
      if (closing.isOurs(client)) client.close()
      else last.push({ key, client })
    }
    handle.listen(BACKLOG)
    return { key, closing, file }
  })
  // libuv accepts one connection a turn of its loop: the queue is empty when a whole turn has brought none
  const emptied = async () => {
    for (let seen = -1; seen !== accepted; await setImmediate()) seen = accepted
  }
  await shut
  const until = now() + EMPTYING_MS
  let before
  do {
    before = accepted
    await setTimeout(QUIET_MS)
    await emptied()
  } while (accepted !== before && now() < until)
  for (const { key, closing, file } of closings) {
    file?.remove() // a client that comes from here on finds nothing there
    await emptied()
    while (!await closing.isTight() && now() < until + PLUGGING_MS) {
      await setTimeout(QUIET_MS)
      await emptied()
    }
    close(key)
    closing.pull()
  }
  return last
}

module.exports = { acceptLast }
