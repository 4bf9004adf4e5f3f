'use strict'

/**
 * An app shares its process with Node's end of the IPC channel, and Node and cluster trust what comes through it: a
 * line that is not JSON, or one of their own messages with wrong fields, is an exception in the primary, which ends it.
 * The guard turns that into a flaw of the worker. What is wrong is left to Node and cluster to find: only they know
 * their messages. But what goes wrong later, when no listener of the channel is on the stack, is not let through.
 */

const { createHook } = require('node:async_hooks')
const { mayListenOn } = require('../inherited-descriptors')
/** @import { Worker } from 'node:cluster' */

const NONE = 2 ** 31 - 1 // a descriptor that no process has: cluster answers that it cannot be listened on
const UDP = new Set(['udp4', 'udp6'])
const LONGEST = 64 * 1024 ** 2 // characters of a message: Node would collect half a gigabyte

/**
 * @typedef {{ cmd: string, type?: string, act?: string, addressType?: string, fd?: number }} NodesMessage to Node or
 *   cluster, as far as it is looked at
 */

/** The handle of each process's channel: Node itself does not give it away. @type {WeakMap<object, any>} */
const channels = new WeakMap()

/** @param {() => Worker} fork @returns {Worker} whose channel can be guarded */
function forkGuardable (fork) {
  /** @type {any[]} */
  const pipes = []
  const hook = createHook({ init: (id, type, trigger, resource) => { if (type === 'PIPEWRAP') pipes.push(resource) } })
    .enable()
  try {
    const worker = fork()
    channels.set(worker.process, pipes.find(pipe => 'pendingHandle' in pipe))
    return worker
  } finally {
    hook.disable()
  }
}

/**
 * To be called right after the fork, when Node's and cluster's listeners are there and nothing has been read.
 * @param {import('node:child_process').ChildProcess} child @param {(type: string, flaw: string) => void} onFlaw
 */
function guardChannel (child, onFlaw) {
  const refuse = (/** @type {unknown} */ type, /** @type {unknown} */ error) =>
    onFlaw(typeof type === 'string' ? type : 'none',
      `Node.js cannot read it: ${error instanceof Error ? error.message : error}`)
  for (const listener of child.listeners('internalMessage')) {
    child.removeListener('internalMessage', /** @type {() => void} */ (listener))
    child.on('internalMessage', (/** @type {NodesMessage | undefined} */ message, handle) => {
      if (isForTcp(message)) return onFlaw('NODE_CLUSTER', 'cluster opens UDP sockets alone here')
      try {
        listener.call(child, harmless(message, handle), handle)
      } catch (error) {
        refuse(message?.cmd, error)
      }
    })
  }
  const channel = channels.get(child)
  if (!channel) return // the process could not be started
  const { onread } = channel
  /** Where Node keeps the text of a line that has not ended, or that it could not parse. @type {symbol | undefined} */
  let rest
  channel.onread = function (/** @type {unknown[]} */ ...args) {
    let flaw
    try {
      onread.apply(this, args)
    } catch (error) {
      flaw = error instanceof Error ? error.message : String(error)
    }
    rest ??= Object.getOwnPropertySymbols(channel).find(key => typeof channel[key] === 'string')
    if (rest !== undefined && channel[rest].length > LONGEST) flaw ??= `a message of more than ${LONGEST} characters`
    if (flaw === undefined) return
    if (rest !== undefined) channel[rest] = '' // it would be put before the next line
    refuse('none', flaw)
  }
}

/**
 * A worker's TCP servers do not listen by cluster, whose primary throws when a worker leaves before such a server
 * listens.
 * @param {NodesMessage | undefined} message
 */
function isForTcp (message) {
  return message?.cmd === 'NODE_CLUSTER' && message.act === 'queryServer' && !UDP.has(message.addressType ?? '')
}

/**
 * Of a socket or a server that an app sends, Node would have the primary read, or listen on it, and an error of that
 * has no listener: each comes as a plain handle, which no message of recycle's takes. A descriptor is named for a UDP
 * socket.
 * @param {NodesMessage | undefined} message @param {object | undefined} handle
 */
function harmless (message, handle) {
  if (message?.cmd === 'NODE_HANDLE' && message.type !== 'net.Native') {
    if (handle) Object.assign(handle, { isOfApp: true })
    return { ...message, type: 'net.Native' }
  }
  return mayListenOn(message?.fd) ? message : { ...message, fd: NONE }
}

module.exports = { LONGEST, forkGuardable, guardChannel }
