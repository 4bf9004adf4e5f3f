'use strict'

/**
 * Loggers such as pino write to the descriptors of stdout and stderr by themselves. Where that fails, fs.writeSync()
 * throws into whichever request logs, and an `error` of the logger's own stream has no listener. So here too what is
 * written is lost and counted, as with process.stdout. Node's stream of a file comes by here as well.
 */

const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

/** The reader is gone, or the disk is full. EAGAIN, say, is for the logger: the reader is slow. */
const LOST = ['EPIPE', 'EIO', 'ENOSPC', 'EDQUOT', 'EFBIG', 'ECONNRESET']

/** @typedef {{ lose: (error: NodeJS.ErrnoException) => void, over: () => void }} Losses of stdout, or of stderr */

/** @param {(fd: number) => Losses | undefined} lossesOf undefined: it is neither of the two */
function loseDescriptorWrites (lossesOf) {
  const { write, writeSync } = fs
  const isLost = (/** @type {NodeJS.ErrnoException | null} */ error) => LOST.includes(error?.code ?? '')

  fs.writeSync = alike(writeSync, function (/** @type {any} */ ...args) {
    const losses = lossesOf(args[0])
    try {
      const written = Reflect.apply(writeSync, fs, args)
      losses?.over()
      return written
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      if (!losses || !LOST.includes(code ?? '')) throw error
      losses.lose(/** @type {NodeJS.ErrnoException} */ (error))
      return lengthOf(args)
    }
  })

  fs.write = alike(write, function (/** @type {any} */ ...args) {
    const losses = lossesOf(args[0])
    const given = args.slice(0, -1)
    const done = args.at(-1)
    if (!losses || typeof done !== 'function') return Reflect.apply(write, fs, args)
    Reflect.apply(write, fs, [...given, (/** @type {Error} */ error, /** @type {unknown[]} */ ...more) => {
      if (!error) losses.over()
      if (!isLost(error)) return done(error, ...more)
      losses.lose(error)
      done(null, lengthOf(given), given[1])
    }])
  })
  syncBuiltinESMExports()
}

/** @template {Function} T @param {T} original @param {any} fn @returns {T} with its name, and how it is promisified */
const alike = (original, fn) => Object.defineProperties(fn, Object.getOwnPropertyDescriptors(original))

/** @param {any[]} args of fs.writeSync() @returns {number} bytes that were to be written */
function lengthOf ([, data, from, length]) {
  if (typeof data === 'string') return Buffer.byteLength(data, typeof from === 'string' ? from : length)
  const part = typeof from === 'object' ? from : { offset: from, length }
  return part?.length ?? data.byteLength - (part?.offset ?? 0)
}

module.exports = { loseDescriptorWrites }
