'use strict'

/**
 * The app may send a server to a process that it has forked, which then accepts from the same queue. Node passes the
 * server's handle to native code, which takes an acceptor's facade for a handle and ends the process by SIGSEGV, as
 * under cluster's round robin: the listening handle is sent in its place. The primary does not get one, as it would
 * accept what no app there answers.
 */

const { constants: { errno: { EBADF } } } = require('node:os')
/** @import { Handle } from '../../core/internals' */

/** @param {(handle: object) => import('./acceptor').Acceptor | undefined} acceptorOf */
function shareServers (acceptorOf) {
  const symbol = Object.getOwnPropertySymbols(process).find(({ description }) => description === 'kChannelHandle')
  const channelOf = () => symbol && Reflect.get(process, symbol)
  const channel = channelOf()
  if (typeof channel?.writeUtf8String !== 'function') return
  const pipes = Object.getPrototypeOf(channel)
  const { writeUtf8String } = pipes
  pipes.writeUtf8String = function (/** @type {[unknown, string, Handle]} */ ...[request, text, handle]) {
    const acceptor = handle ? acceptorOf(handle) : undefined
    if (acceptor === undefined) return writeUtf8String.call(this, request, text, handle)
    if (this === channelOf()) return -EBADF
    // Node sends nothing else by this channel until the handle has been received
    return acceptor.listening.lend(listening => writeUtf8String.call(this, request, text, listening))
  }
}

module.exports = { shareServers }
