'use strict'

/**
 * An app shares its process with Node's end of the IPC channel, and Node and cluster trust what comes through it: a line that is not
 * JSON, or one of their own messages with wrong fields, is an exception in the primary, which ends it. The guard turns that into a
 * flaw of the worker. What is wrong is left to Node and cluster to find: only they know their messages.
 */

const { createHook } = require('node:async_hooks')

const LONGEST = 64 * 1024 ** 2 // characters of a message: Node would collect half a gigabyte

/** The handle of each process's channel: Node itself does not give it away. @type {WeakMap<object, any>} */
const channels = new WeakMap()

/**
 * @param {() => import('node:cluster').Worker} fork
 * @returns {import('node:cluster').Worker} whose channel can be guarded
 */
function forkGuardable (fork) {
  /** @type {any[]} */
  const pipes = []
  const hook = createHook({ init: (id, type, trigger, resource) => { if (type === 'PIPEWRAP') pipes.push(resource) } }).enable()
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
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {(type: string, flaw: string) => void} onFlaw
 */
function guardChannel (child, onFlaw) {
  const refuse = (/** @type {unknown} */ type, /** @type {unknown} */ error) =>
    onFlaw(typeof type === 'string' ? type : 'none', `Node.js cannot read it: ${error instanceof Error ? error.message : error}`.slice(0, 200))
  for (const listener of child.listeners('internalMessage')) {
    child.removeListener('internalMessage', /** @type {any} */ (listener))
    child.on(/** @type {any} */ ('internalMessage'), (/** @type {any} */ message, /** @type {any} */ handle) => {
      try {
        listener.call(child, message, handle)
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
  channel.onread = function (/** @type {any[]} */ ...args) {
    try {
      onread.apply(this, args)
      rest ??= Object.getOwnPropertySymbols(channel).find(key => typeof channel[key] === 'string')
      if (rest === undefined || channel[rest].length <= LONGEST) return
      channel[rest] = ''
      refuse('none', `a message of more than ${LONGEST} characters`)
    } catch (error) {
      rest ??= Object.getOwnPropertySymbols(channel).find(key => typeof channel[key] === 'string')
      if (rest !== undefined) channel[rest] = '' // it would be put before the next line
      refuse('none', error)
    }
  }
}

module.exports = { forkGuardable, guardChannel }
