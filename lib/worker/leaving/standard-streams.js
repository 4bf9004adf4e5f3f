'use strict'

/**
 * The stdout and stderr of this process, those of them that the app uses: Node makes each at its first use, and changes
 * the descriptor then. So each is noted at that moment, and made no sooner.
 *
 * Where writing fails (the reader is gone, the disk is full) the stream's `error` would be an uncaught exception of
 * whichever request runs. So it has a listener: what is written is lost and counted, and Node tries each write anew.
 *
 * @typedef {{ stream: string, why: string | null, lost: number }} Trouble `why`: the code, as it begins; null: it is
 *   over, and at least `lost` writes were dropped
 *
 * @typedef {{ lose: (error: NodeJS.ErrnoException) => void, over: () => void }} Losses of stdout, or of stderr
 */

const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const { Writable } = require('node:stream')
const { clearTimeout, setTimeout } = require('node:timers')

const FLUSH_MS = 1000 // of what a reader has not read yet
/** The reader is gone, or the disk is full. EAGAIN, say, is for the logger: the reader is slow. */
const LOST = ['EPIPE', 'EIO', 'ENOSPC', 'EDQUOT', 'EFBIG', 'ECONNRESET']

function watchStandardStreams () {
  /** @type {Writable[]} */
  const used = []
  /** @type {Trouble[]} */
  const untold = []
  let tell = (/** @type {Trouble} */ trouble) => { untold.push(trouble) }
  const [stdout, stderr] = ['stdout', 'stderr'].map(stream => countLosses(trouble => tell({ stream, ...trouble })))
  loseDescriptorWrites(fd => fd === 1 ? stdout : fd === 2 ? stderr : undefined)
  for (const [name, losses] of /** @type {const} */ ([['stdout', stdout], ['stderr', stderr]])) {
    const own = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(process, name))
    Object.defineProperty(process, name, {
      ...own,
      get () {
        Object.defineProperty(process, name, own)
        const stream = process[name]
        used.push(stream)
        watchErrors(stream, losses)
        return stream
      }
    })
  }
  return {
    /** @param {typeof tell} fn */
    onTrouble (fn) {
      tell = fn
      untold.splice(0).forEach(fn)
    },

    /** Resolves when what the app has written has left this process, or after a second. */
    async flushed () {
      /** @type {NodeJS.Timeout | undefined} */
      let timer
      await Promise.race([
        Promise.all(used.map(flush)), new Promise(resolve => { timer = setTimeout(resolve, FLUSH_MS) })
      ])
      clearTimeout(timer)
    }
  }
}

/** @param {(trouble: Omit<Trouble, 'stream'>) => void} tell @returns {Losses} */
function countLosses (tell) {
  let lost = 0
  return {
    lose ({ code, syscall }) {
      if (++lost === 1) tell({ why: code ?? syscall ?? null, lost: 0 })
    },
    /** A write has not failed. */
    over () {
      if (lost > 0) tell({ why: null, lost })
      lost = 0
    }
  }
}

/**
 * Loggers such as pino write to the descriptors by themselves. Where that fails, fs.writeSync() throws into whichever
 * request logs, and an `error` of the logger's own stream has no listener: what is written is lost and counted, too.
 * Node's stream of a file comes by here as well.
 * @param {(fd: number) => Losses | undefined} lossesOf undefined: it is neither of the two
 */
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
      const lost = /** @type {NodeJS.ErrnoException} */ (error)
      if (!losses || !isLost(lost)) throw error
      losses.lose(lost)
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

/** @param {NodeJS.WriteStream} stream @param {Losses} losses */
function watchErrors (stream, losses) {
  let isAwaited = false
  const onError = (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.syscall === undefined) { // the app has ended it, say
      if (stream.listenerCount('error') === 1) throw error
      return
    }
    losses.lose(error)
    if (isAwaited) return
    isAwaited = true
    untilWritten(stream, () => {
      isAwaited = false
      losses.over()
    })
  }
  stream.on('error', onError)
  // An app that removes all listeners removes ours too.
  stream.on('removeListener', (/** @type {string} */ event, /** @type {unknown} */ listener) => {
    if (event === 'error' && listener === onError) stream.on('error', onError)
  })
}

/** Calls `done` after the first write that does not fail. @param {any} stream @param {() => void} done */
function untilWritten (stream, done) {
  const own = Object.fromEntries(['_write', '_writev'].map(name =>
    [name, Object.getOwnPropertyDescriptor(stream, name)]))
  const restore = () => {
    for (const [name, descriptor] of Object.entries(own)) {
      if (descriptor) Object.defineProperty(stream, name, descriptor)
      else delete stream[name]
    }
  }
  for (const name of Object.keys(own)) {
    const write = stream[name]
    if (!write) continue
    stream[name] = (/** @type {any[]} */ ...args) => {
      const written = args.pop()
      Reflect.apply(write, stream, [...args, (/** @type {Error | null | undefined} */ error) => {
        if (!error && stream[name] !== write) {
          restore()
          done()
        }
        written(error)
      }])
    }
  }
}

/**
 * For what is printed where an exception is being handled: it must not raise another one. An app may have replaced
 * stderr, or its write().
 * @param {string} text
 */
function printError (text) {
  try {
    process.stderr.write(text)
  } catch {} // it is lost
}

/** Not by its own write(), which an app may have replaced. @param {Writable} stream */
function flush (stream) {
  return stream.writableLength > 0 &&
    new Promise(resolve => Reflect.apply(Writable.prototype.write, stream, ['', resolve]))
}

module.exports = { watchStandardStreams, printError }
